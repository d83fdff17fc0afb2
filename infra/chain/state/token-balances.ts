import { decodeHolding, decodeMint, isTokenProgram } from '../encoding/token-account.ts'
import type { AccountState } from './bank.ts'
import type { TokenBalance } from './ledger.ts'

/**
 * The token accounts among a transaction's accounts, as a node snapshots them before and after it runs. An account
 * that does not exist at that moment has no entry: one created by the transaction appears only afterwards.
 */
export function tokenBalances(keys: string[], accountOf: (address: string) => AccountState | null): TokenBalance[] {
  if (!keys.some(isTokenProgram)) return []
  return keys.flatMap((address, accountIndex) => {
    const account = accountOf(address)
    if (account === null || !isTokenProgram(account.owner)) return []
    const holding = decodeHolding(account.data)
    if (holding === null) return []
    const mint = accountOf(holding.mint)
    const decimals = mint && decodeMint(mint.data)?.decimals
    if (decimals == null) return []
    return [
      {
        accountIndex,
        mint: holding.mint,
        owner: holding.owner,
        programId: account.owner,
        decimals,
        amountRaw: holding.amountRaw.toString(),
      },
    ]
  })
}
