import { TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { type AccountFormat, encodeAccount, MAX_BASE58_BYTES } from '../encoding/account.ts'
import { decodeHolding, decodeMint, isTokenProgram } from '../encoding/token-account.ts'
import { uiTokenAmount } from '../encoding/token-amount.ts'
import type { AccountState } from '../state/bank.ts'
import type { Chain } from '../state/chain.ts'
import { commitmentOf } from './commitment.ts'
import type { Methods } from './methods.ts'
import { address, addressAt, integerAt, isOptions, listAt, type Options, oneOf, optionsAt } from './params.ts'
import { invalidParams } from './rpc-error.ts'

/** Agave's limit for getMultipleAccounts. */
const MAX_ACCOUNTS = 100

/** What a node says about accounts. They are always the newest ones: an older commitment does not show older data. */
export const accountMethods: Methods = {
  getBalance: ({ chain, view }, params) => ({
    context: view.context(commitmentOf(optionsAt(params, 1), view)),
    value: chain.bank.lamports(addressAt(params, 0)),
  }),

  getAccountInfo: ({ chain, view }, params) => {
    const options = optionsAt(params, 1)
    const account = chain.bank.account(addressAt(params, 0))
    return {
      context: view.context(commitmentOf(options, view)),
      value: account && present(chain, account, accountFormat(options)),
    }
  },

  getMultipleAccounts: ({ chain, view }, params) => {
    const options = optionsAt(params, 1)
    const accounts = listAt(params, 0, MAX_ACCOUNTS).map(key => chain.bank.account(address(key)))
    return {
      context: view.context(commitmentOf(options, view)),
      value: accounts.map(account => account && present(chain, account, accountFormat(options))),
    }
  },

  getMinimumBalanceForRentExemption: ({ chain }, params) => chain.bank.rentExemptMinimum(integerAt(params, 0)),

  getTokenAccountBalance: ({ chain, view }, params) => {
    const account = chain.bank.account(addressAt(params, 0))
    const holding = account && isTokenProgram(account.owner) ? decodeHolding(account.data) : null
    const decimals = holding && mintOf(chain, holding.mint)?.decimals
    if (holding === null || decimals == null) throw invalidParams('could not find account')
    return {
      context: view.context(commitmentOf(optionsAt(params, 1), view)),
      value: uiTokenAmount(holding.amountRaw, decimals),
    }
  },

  getTokenSupply: ({ chain, view }, params) => {
    const mint = mintOf(chain, addressAt(params, 0))
    if (mint === null) throw invalidParams('could not find mint')
    return {
      context: view.context(commitmentOf(optionsAt(params, 1), view)),
      value: uiTokenAmount(mint.supplyRaw, mint.decimals),
    }
  },

  getTokenAccountsByOwner: ({ chain, view }, params) => {
    const owner = addressAt(params, 0)
    const filter = tokenFilter(chain, optionsAt(params, 1))
    const options = optionsAt(params, 2)
    const accounts = chain.bank.accountsOwnedBy(filter.programId).filter(account => {
      const holding = decodeHolding(account.data)
      return holding?.owner === owner && (filter.mint === null || holding.mint === filter.mint)
    })
    return {
      context: view.context(commitmentOf(options, view)),
      value: accounts.map(account => ({
        pubkey: account.address,
        account: present(chain, account, accountFormat(options)),
      })),
    }
  },
}

/** How the call's options want accounts to be encoded. */
export function accountFormat(options: Options): AccountFormat {
  const { dataSlice } = options
  const slice = isOptions(dataSlice)
    ? { offset: integerAt([dataSlice.offset], 0), length: integerAt([dataSlice.length], 0) }
    : null
  return { encoding: oneOf(options.encoding, ['base58', 'base64', 'jsonParsed'], 'base58'), slice }
}

/** Encodes an account, and refuses base58 for long data as nodes do. */
export function present(chain: Chain, account: AccountState, format: AccountFormat) {
  const length = format.slice?.length ?? account.data.length
  if (format.encoding === 'base58' && length > MAX_BASE58_BYTES) {
    throw invalidParams('Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.')
  }
  return encodeAccount(account, format, address => chain.bank.account(address))
}

function mintOf(chain: Chain, mint: string) {
  const account = chain.bank.account(mint)
  return account && isTokenProgram(account.owner) ? decodeMint(account.data) : null
}

function tokenFilter(chain: Chain, filter: Options): { programId: string; mint: string | null } {
  if (filter.mint !== undefined) {
    const mint = address(filter.mint)
    const programId = chain.bank.account(mint)?.owner
    if (programId === undefined || !isTokenProgram(programId)) throw invalidParams('could not find mint')
    return { programId, mint }
  }
  const programId = address(filter.programId)
  const known = [TOKEN_PROGRAM_ID.toBase58(), TOKEN_2022_PROGRAM_ID.toBase58()]
  if (!known.includes(programId)) throw invalidParams('unrecognized Token program id')
  return { programId, mint: null }
}
