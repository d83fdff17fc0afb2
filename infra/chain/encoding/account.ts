import bs58 from 'bs58'
import type { AccountState } from '../state/bank.ts'
import {
  decodeHolding,
  decodeMint,
  extensionBytes,
  isTokenProgram,
  type TokenHolding,
  type TokenMint,
  tokenProgramName,
} from './token-account.ts'
import { uiTokenAmount } from './token-amount.ts'
import { type ParsedExtension, parseExtensions } from './token-extensions.ts'

type AccountEncoding = 'base58' | 'base64' | 'jsonParsed'

/** How a caller wants accounts: the encoding, and the part of the data it needs. */
export type AccountFormat = { encoding: AccountEncoding; slice: { offset: number; length: number } | null }

/** Encoding base58 is slow, so nodes do it for short data only. */
export const MAX_BASE58_BYTES = 128

type AccountOf = (address: string) => AccountState | null

/** Rent is not collected any more: every account shows the largest u64, as on mainnet. */
const RENT_EPOCH = 2n ** 64n - 1n

/** An account in the RPC's form. jsonParsed falls back to base64 for what is no mint and no token account. */
export function encodeAccount(account: AccountState, format: AccountFormat, accountOf: AccountOf) {
  return {
    lamports: account.lamports,
    owner: account.owner,
    executable: account.executable,
    rentEpoch: RENT_EPOCH,
    space: account.data.length,
    data: encodeData(account, format, accountOf),
  }
}

function encodeData(account: AccountState, { encoding, slice }: AccountFormat, accountOf: AccountOf) {
  const parsed = encoding === 'jsonParsed' ? parseTokenData(account, accountOf) : null
  if (parsed !== null) return { program: tokenProgramName(account.owner), parsed, space: account.data.length }
  const data = slice ? account.data.subarray(slice.offset, slice.offset + slice.length) : account.data
  if (encoding !== 'base58') return [Buffer.from(data).toString('base64'), 'base64']
  const text = data.length > MAX_BASE58_BYTES ? 'error: data too large for bs58 encoding' : bs58.encode(data)
  return [text, 'base58']
}

function parseTokenData(account: AccountState, accountOf: AccountOf) {
  if (!isTokenProgram(account.owner)) return null
  const extensions = parseExtensions(extensionBytes(account.data))
  const mint = decodeMint(account.data)
  if (mint !== null) return { type: 'mint', info: mintInfo(mint, extensions) }
  const holding = decodeHolding(account.data)
  if (holding === null) return null
  const decimals = decodeMint(accountOf(holding.mint)?.data ?? new Uint8Array())?.decimals
  return decimals === undefined ? null : { type: 'account', info: holdingInfo(holding, decimals, extensions) }
}

function mintInfo(mint: TokenMint, extensions: ParsedExtension[]) {
  return {
    mintAuthority: mint.mintAuthority,
    supply: mint.supplyRaw.toString(),
    decimals: mint.decimals,
    isInitialized: mint.isInitialized,
    freezeAuthority: mint.freezeAuthority,
    ...(extensions.length > 0 && { extensions }),
  }
}

function holdingInfo(holding: TokenHolding, decimals: number, extensions: ParsedExtension[]) {
  const { delegate, delegatedRaw, nativeReserve, closeAuthority } = holding
  return {
    mint: holding.mint,
    owner: holding.owner,
    tokenAmount: uiTokenAmount(holding.amountRaw, decimals),
    ...(delegate !== null && { delegate, delegatedAmount: uiTokenAmount(delegatedRaw, decimals) }),
    state: holding.state,
    isNative: nativeReserve !== null,
    ...(nativeReserve !== null && { rentExemptReserve: uiTokenAmount(nativeReserve, decimals) }),
    ...(closeAuthority !== null && { closeAuthority }),
    ...(extensions.length > 0 && { extensions }),
  }
}
