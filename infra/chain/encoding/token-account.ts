import { TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { Reader } from './reader.ts'

const TOKEN_PROGRAM = TOKEN_PROGRAM_ID.toBase58()
const TOKEN_2022_PROGRAM = TOKEN_2022_PROGRAM_ID.toBase58()

const MINT_SIZE = 82
const ACCOUNT_SIZE = 165
const MULTISIG_SIZE = 355
/** Where Token-2022 says what an account with extensions is; mints are padded up to a token account's size. */
const KIND_AT = ACCOUNT_SIZE
const KIND_MINT = 1
const KIND_ACCOUNT = 2

const STATES = ['uninitialized', 'initialized', 'frozen']

export type TokenMint = {
  mintAuthority: string | null
  supplyRaw: bigint
  decimals: number
  isInitialized: boolean
  freezeAuthority: string | null
}

export type TokenHolding = {
  mint: string
  owner: string
  amountRaw: bigint
  delegate: string | null
  state: string
  /** Lamports kept for rent when the account wraps SOL. */
  nativeReserve: bigint | null
  delegatedRaw: bigint
  closeAuthority: string | null
}

export function isTokenProgram(address: string): boolean {
  return address === TOKEN_PROGRAM || address === TOKEN_2022_PROGRAM
}

/** What agave calls the program in jsonParsed accounts. */
export function tokenProgramName(address: string): string {
  return address === TOKEN_2022_PROGRAM ? 'spl-token-2022' : 'spl-token'
}

/** Decodes a token account of either token program, or null when the bytes are none. */
export function decodeHolding(data: Uint8Array): TokenHolding | null {
  if (!isKind(data, ACCOUNT_SIZE, KIND_ACCOUNT)) return null
  const reader = new Reader(data)
  const mint = reader.address()
  const owner = reader.address()
  const amountRaw = reader.u64()
  const delegate = reader.coption(() => reader.address())
  const state = STATES[reader.u8()]
  if (state === undefined || state === 'uninitialized') return null
  const nativeReserve = reader.coption(() => reader.u64())
  const delegatedRaw = reader.u64()
  const closeAuthority = reader.coption(() => reader.address())
  return { mint, owner, amountRaw, delegate, state, nativeReserve, delegatedRaw, closeAuthority }
}

/** Decodes a mint of either token program, or null when the bytes are none. */
export function decodeMint(data: Uint8Array): TokenMint | null {
  if (!isKind(data, MINT_SIZE, KIND_MINT)) return null
  const reader = new Reader(data)
  const mintAuthority = reader.coption(() => reader.address())
  const supplyRaw = reader.u64()
  const decimals = reader.u8()
  const isInitialized = reader.bool()
  const freezeAuthority = reader.coption(() => reader.address())
  return isInitialized ? { mintAuthority, supplyRaw, decimals, isInitialized, freezeAuthority } : null
}

/** The extensions' bytes: type, length and value one after another. */
export function extensionBytes(data: Uint8Array): Uint8Array {
  return data.length > KIND_AT + 1 ? data.subarray(KIND_AT + 1) : new Uint8Array()
}

function isKind(data: Uint8Array, size: number, kind: number): boolean {
  if (data.length === size) return true
  return data.length > KIND_AT && data.length !== MULTISIG_SIZE && data[KIND_AT] === kind
}
