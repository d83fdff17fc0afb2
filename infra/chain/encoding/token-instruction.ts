import { type NamedInstruction, nameAccounts, type ParsedInstruction } from './named-instruction.ts'
import { Reader } from './reader.ts'
import { uiTokenAmount } from './token-amount.ts'

type Layout = {
  type: string
  accounts: string[]
  /** Who authorises: the field's name alone, and its name when further accounts follow it. */
  authority?: [single: string, multisig: string]
  fields?: (reader: Reader) => Record<string, unknown>
}

const AUTHORITY: [string, string] = ['authority', 'multisigAuthority']
const OWNER: [string, string] = ['owner', 'multisigOwner']
const MINT_AUTHORITY: [string, string] = ['mintAuthority', 'multisigMintAuthority']
const FREEZE_AUTHORITY: [string, string] = ['freezeAuthority', 'multisigFreezeAuthority']

const AUTHORITY_TYPES = [
  'mintTokens',
  'freezeAccount',
  'accountOwner',
  'closeAccount',
  'transferFeeConfig',
  'withheldWithdraw',
  'closeMint',
  'interestRate',
  'permanentDelegate',
  'confidentialTransferMint',
  'transferHookProgramId',
  'confidentialTransferFeeConfig',
  'metadataPointer',
  'groupPointer',
  'groupMemberPointer',
  'scaledUiAmount',
  'pause',
  'permissionedBurn',
]
const ACCOUNT_AUTHORITIES = new Set(['accountOwner', 'closeAccount'])

const BATCH = 255
const SET_AUTHORITY = 6
const TRANSFER_FEE = 26
const METADATA_POINTER = 39

const amount = (reader: Reader) => ({ amount: reader.u64().toString() })
const checkedAmount = (reader: Reader) => ({ tokenAmount: uiTokenAmount(reader.u64(), reader.u8()) })
const optional = (name: string, value: unknown) => (value === null ? {} : { [name]: value })

const mintFields = (reader: Reader) => ({
  decimals: reader.u8(),
  mintAuthority: reader.address(),
  ...optional(
    'freezeAuthority',
    reader.option(() => reader.address()),
  ),
})

const LAYOUTS: Record<number, Layout> = {
  0: { type: 'initializeMint', accounts: ['mint', 'rentSysvar'], fields: mintFields },
  1: { type: 'initializeAccount', accounts: ['account', 'mint', 'owner', 'rentSysvar'] },
  3: { type: 'transfer', accounts: ['source', 'destination'], authority: AUTHORITY, fields: amount },
  4: { type: 'approve', accounts: ['source', 'delegate'], authority: OWNER, fields: amount },
  5: { type: 'revoke', accounts: ['source'], authority: OWNER },
  7: { type: 'mintTo', accounts: ['mint', 'account'], authority: MINT_AUTHORITY, fields: amount },
  8: { type: 'burn', accounts: ['account', 'mint'], authority: AUTHORITY, fields: amount },
  9: { type: 'closeAccount', accounts: ['account', 'destination'], authority: OWNER },
  10: { type: 'freezeAccount', accounts: ['account', 'mint'], authority: FREEZE_AUTHORITY },
  11: { type: 'thawAccount', accounts: ['account', 'mint'], authority: FREEZE_AUTHORITY },
  12: {
    type: 'transferChecked',
    accounts: ['source', 'mint', 'destination'],
    authority: AUTHORITY,
    fields: checkedAmount,
  },
  13: { type: 'approveChecked', accounts: ['source', 'mint', 'delegate'], authority: OWNER, fields: checkedAmount },
  14: { type: 'mintToChecked', accounts: ['mint', 'account'], authority: MINT_AUTHORITY, fields: checkedAmount },
  15: { type: 'burnChecked', accounts: ['account', 'mint'], authority: AUTHORITY, fields: checkedAmount },
  16: {
    type: 'initializeAccount2',
    accounts: ['account', 'mint', 'rentSysvar'],
    fields: reader => ({ owner: reader.address() }),
  },
  17: { type: 'syncNative', accounts: ['account'] },
  18: { type: 'initializeAccount3', accounts: ['account', 'mint'], fields: reader => ({ owner: reader.address() }) },
  20: { type: 'initializeMint2', accounts: ['mint'], fields: mintFields },
  21: { type: 'getAccountDataSize', accounts: ['mint'], fields: extensionTypes },
  22: { type: 'initializeImmutableOwner', accounts: ['account'] },
  25: {
    type: 'initializeMintCloseAuthority',
    accounts: ['mint'],
    fields: reader => ({ newAuthority: reader.option(() => reader.address()) }),
  },
  32: { type: 'initializeNonTransferableMint', accounts: ['mint'] },
  35: {
    type: 'initializePermanentDelegate',
    accounts: ['mint'],
    fields: reader => ({ delegate: reader.address() }),
  },
}

const FEE_LAYOUTS: Record<number, Layout> = {
  0: {
    type: 'initializeTransferFeeConfig',
    accounts: ['mint'],
    fields: reader => ({
      ...optional(
        'transferFeeConfigAuthority',
        reader.option(() => reader.address()),
      ),
      ...optional(
        'withdrawWithheldAuthority',
        reader.option(() => reader.address()),
      ),
      transferFeeBasisPoints: reader.u16(),
      maximumFee: reader.u64(),
    }),
  },
  1: {
    type: 'transferCheckedWithFee',
    accounts: ['source', 'mint', 'destination'],
    authority: AUTHORITY,
    fields: feeAmounts,
  },
  2: {
    type: 'withdrawWithheldTokensFromMint',
    accounts: ['mint', 'feeRecipient'],
    authority: ['withdrawWithheldAuthority', 'multisigWithdrawWithheldAuthority'],
  },
}

const POINTER_LAYOUTS: Record<number, Layout> = {
  0: {
    type: 'initializeMetadataPointer',
    accounts: ['mint'],
    fields: reader => ({
      ...optional('authority', reader.optionalAddress()),
      ...optional('metadataAddress', reader.optionalAddress()),
    }),
  },
}

/** Both token programs, in agave's words; instructions of rarer extensions stay partially decoded (null). */
export function parseTokenInstruction({ accounts, data }: NamedInstruction): ParsedInstruction | null {
  const [tag, subTag] = data
  if (tag === undefined) return null
  if (tag === BATCH) return parseBatch({ accounts, data: data.subarray(1) })
  if (tag === SET_AUTHORITY) return parseSetAuthority({ accounts, data: data.subarray(1) })
  const nested = tag === TRANSFER_FEE ? FEE_LAYOUTS : tag === METADATA_POINTER ? POINTER_LAYOUTS : null
  const layout = nested === null ? LAYOUTS[tag] : nested[subTag ?? -1]
  return layout ? applyLayout(layout, { accounts, data: data.subarray(nested === null ? 1 : 2) }) : null
}

function applyLayout(layout: Layout, { accounts, data }: NamedInstruction): ParsedInstruction | null {
  const named = nameAccounts(layout.accounts, accounts)
  const authority = layout.authority ? authorityFields(layout.authority, accounts.slice(layout.accounts.length)) : {}
  if (named === null || authority === null) return null
  return { type: layout.type, info: { ...named, ...layout.fields?.(new Reader(data)), ...authority } }
}

/**
 * Agave takes any account after the authority for a multisig's signer. A Solana Pay reference is such an account, so
 * a payment that carries one shows `multisigAuthority` and `signers`, and no `authority`.
 */
function authorityFields([single, multisig]: [string, string], rest: string[]): Record<string, unknown> | null {
  const [authority, ...signers] = rest
  if (authority === undefined) return null
  return signers.length === 0 ? { [single]: authority } : { [multisig]: authority, signers }
}

function feeAmounts(reader: Reader) {
  const amountRaw = reader.u64()
  const decimals = reader.u8()
  return { tokenAmount: uiTokenAmount(amountRaw, decimals), feeAmount: uiTokenAmount(reader.u64(), decimals) }
}

function extensionTypes(reader: Reader) {
  const types: string[] = []
  while (reader.remaining >= 2) if (reader.u16() === 7) types.push('immutableOwner')
  return types.length > 0 ? { extensionTypes: types } : {}
}

function parseSetAuthority({ accounts, data }: NamedInstruction): ParsedInstruction | null {
  const reader = new Reader(data)
  const authorityType = AUTHORITY_TYPES[reader.u8()]
  if (authorityType === undefined) return null
  const newAuthority = reader.option(() => reader.address())
  const layout: Layout = {
    type: 'setAuthority',
    accounts: [ACCOUNT_AUTHORITIES.has(authorityType) ? 'account' : 'mint'],
    authority: AUTHORITY,
    fields: () => ({ authorityType, newAuthority }),
  }
  return applyLayout(layout, { accounts, data })
}

/** Several instructions in one: [accounts, data length, data] each, the accounts one after another. */
function parseBatch({ accounts, data }: NamedInstruction): ParsedInstruction | null {
  const reader = new Reader(data)
  const instructions: ParsedInstruction[] = []
  let next = 0
  while (reader.remaining > 0) {
    const count = reader.u8()
    const inner = { accounts: accounts.slice(next, next + count), data: reader.bytes(reader.u8()) }
    next += count
    const parsed = inner.accounts.length < count || inner.data[0] === BATCH ? null : parseTokenInstruction(inner)
    if (parsed === null) return null
    instructions.push(parsed)
  }
  return { type: 'batch', info: { instructions } }
}
