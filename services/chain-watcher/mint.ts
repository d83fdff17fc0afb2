import {
  AccountState,
  ExtensionType,
  getDefaultAccountState,
  getExtensionTypes,
  getPausableConfig,
  getPermanentDelegate,
  getTransferFeeConfig,
  getTransferHook,
  type Mint,
  TOKEN_2022_PROGRAM_ID,
  unpackMint,
} from '@solana/spl-token'
import { PublicKey } from '@solana/web3.js'

/** An account as a node gives it. */
export interface AccountBytes {
  owner: string
  data: Uint8Array
}

/** Whether a mint may pay for credits. `warnings` are risks that the operator takes knowingly. */
export type MintVerdict =
  | { status: 'accepted'; decimals: number; warnings: string[] }
  | { status: 'refused'; reason: string }

/** More decimals than this are nobody's payment token, and the contract stops there. */
const DECIMALS_MAX = 18
const NO_PROGRAM = PublicKey.default

/** Extensions that change nothing about a plain transfer. By number: the library lacks names for 16, 17 and 24. */
const HARMLESS = new Set<number>([
  ExtensionType.MintCloseAuthority,
  ExtensionType.ConfidentialTransferMint,
  16, // confidential transfer fee
  24, // confidential mint and burn
  ExtensionType.MetadataPointer,
  ExtensionType.TokenMetadata,
  ExtensionType.GroupPointer,
  ExtensionType.TokenGroup,
  ExtensionType.GroupMemberPointer,
  ExtensionType.TokenGroupMember,
  ExtensionType.PermissionedBurn,
])

type Judge = (mint: Mint) => { refused: string } | { warning: string } | null

/** The extensions that can take, change or stop a payment. */
const judges: Readonly<Record<number, Judge>> = {
  [ExtensionType.TransferFeeConfig]: mint => {
    const config = getTransferFeeConfig(mint)
    // Which of the two is in force depends on the epoch: neither may charge.
    const charges = [config?.olderTransferFee, config?.newerTransferFee].some(fee => fee?.transferFeeBasisPoints !== 0)
    return charges
      ? { refused: 'it withholds a fee from transfers' }
      : { warning: 'it may begin to charge transfer fees' }
  },
  [ExtensionType.DefaultAccountState]: mint =>
    getDefaultAccountState(mint)?.state === AccountState.Frozen ? { refused: 'it freezes new accounts' } : null,
  [ExtensionType.NonTransferable]: () => ({ refused: 'it can not be transferred' }),
  [ExtensionType.InterestBearingConfig]: () => ({ refused: 'its shown amounts bear interest' }),
  [ExtensionType.ScaledUiAmountConfig]: () => ({ refused: 'its shown amounts are scaled' }),
  [ExtensionType.PermanentDelegate]: mint => {
    const delegate = getPermanentDelegate(mint)?.delegate
    return delegate && !delegate.equals(NO_PROGRAM)
      ? { warning: `a permanent delegate (${delegate.toBase58()}) can take the treasury's tokens back` }
      : null
  },
  [ExtensionType.TransferHook]: mint => {
    const program = getTransferHook(mint)?.programId
    return program && !program.equals(NO_PROGRAM)
      ? { refused: `the program ${program.toBase58()} decides about its transfers` }
      : { warning: 'a transfer hook may be set' }
  },
  [ExtensionType.PausableConfig]: mint =>
    getPausableConfig(mint)?.paused ? { refused: 'it is paused' } : { warning: 'its transfers can be paused' },
}

/**
 * Judges the mint account. What is not known to be harmless is refused: an extension of tomorrow may do anything.
 * Solana Pay amounts are shown amounts, so mints that scale them are refused too (research: payments, 2).
 */
export function judgeMint(address: string, account: AccountBytes | null): MintVerdict {
  if (!account) return refused('there is no such account')
  if (account.owner !== TOKEN_2022_PROGRAM_ID.toBase58()) return refused('it is not owned by the Token-2022 program')
  const mint = unpack(address, account)
  if (!mint?.isInitialized) return refused('it is not an initialized mint')
  if (mint.decimals > DECIMALS_MAX) return refused(`it has ${mint.decimals} decimals`)
  const warnings: string[] = []
  for (const type of getExtensionTypes(mint.tlvData)) {
    if (HARMLESS.has(type)) continue
    const judge = judges[type]
    if (!judge) return refused(`it has an extension that we don't know (${type})`)
    const finding = judge(mint)
    if (finding && 'refused' in finding) return refused(finding.refused)
    if (finding) warnings.push(finding.warning)
  }
  return { status: 'accepted', decimals: mint.decimals, warnings }
}

function unpack(address: string, { owner, data }: AccountBytes): Mint | null {
  const info = { owner: new PublicKey(owner), data: Buffer.from(data), lamports: 0, executable: false }
  try {
    return unpackMint(new PublicKey(address), info, TOKEN_2022_PROGRAM_ID)
  } catch {
    return null
  }
}

function refused(reason: string): MintVerdict {
  return { status: 'refused', reason: `the mint can't be accepted: ${reason}` }
}
