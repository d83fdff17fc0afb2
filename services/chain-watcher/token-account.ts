import {
  type Account,
  ASSOCIATED_TOKEN_PROGRAM_ID,
  getAssociatedTokenAddressSync,
  getMemoTransfer,
  TOKEN_2022_PROGRAM_ID,
  unpackAccount,
} from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'
import type { AccountBytes } from './mint.ts'
import type { Target } from './payment.ts'

const ADDRESS_BYTES = 32

/** The address in base58, or null when the text is not 32 bytes of it. */
export function parseAddress(text: string): PublicKey | null {
  try {
    const key = new PublicKey(text)
    return key.toBytes().length === ADDRESS_BYTES && key.toBase58() === text ? key : null
  } catch {
    return null
  }
}

/** The token account of a wallet for a mint of the Token-2022 program. Treasuries may be off the curve (multisigs). */
export function tokenAccountOf(wallet: PublicKey, mint: PublicKey): PublicKey {
  return getAssociatedTokenAddressSync(mint, wallet, true, TOKEN_2022_PROGRAM_ID, ASSOCIATED_TOKEN_PROGRAM_ID)
}

/** Why the treasury's token account can't take payments; null when it can. */
export function treasuryProblem(target: Target, account: AccountBytes | null): string | null {
  if (!account) return "the treasury's token account does not exist"
  const holding = unpack(target.tokenAccount, account)
  if (!holding?.isInitialized) return "the treasury's token account is not a token account"
  if (holding.mint.toBase58() !== target.mint) return "the treasury's token account holds another mint"
  if (holding.owner.toBase58() !== target.treasury) return "the treasury's token account belongs to another wallet"
  if (holding.isFrozen) return "the treasury's token account is frozen"
  // A Solana Pay transfer carries no memo unless it is asked for one.
  if (getMemoTransfer(holding)?.requireIncomingTransferMemos) return "the treasury's token account demands a memo"
  return null
}

/** Base units in a token account; zero when it is not one. */
export function amountOf(address: string, account: AccountBytes): bigint {
  return unpack(address, account)?.amount ?? 0n
}

function unpack(address: string, { owner, data }: AccountBytes): Account | null {
  const info = { owner: new PublicKey(owner), data: Buffer.from(data), lamports: 0, executable: false }
  try {
    return unpackAccount(new PublicKey(address), info, TOKEN_2022_PROGRAM_ID)
  } catch {
    return null
  }
}
