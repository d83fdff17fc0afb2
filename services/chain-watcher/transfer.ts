import type { Instruction } from './transaction.ts'

export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'

/** Tokens that an instruction moved from one token account to another. */
export interface Transfer {
  source: string
  destination: string
  authority: string
  /** What arrives: a fee that the mint withholds is taken off. */
  amountRaw: bigint
  /** Accounts after the authority: a multisig's signers, and references. Nodes that parse for us can't tell them apart. */
  extraAccounts: string[]
}

/** First byte of a token instruction's data. */
const TRANSFER = 3
const TRANSFER_CHECKED = 12
const TRANSFER_FEE_EXTENSION = 26
const TRANSFER_CHECKED_WITH_FEE = 1
const BATCH = 255

/** The transfers of an instruction of the Token-2022 program; none for any other instruction. */
export function transfersOf({ program, accounts, data }: Instruction): Transfer[] {
  if (program !== TOKEN_2022_PROGRAM) return []
  const bytes = new DataView(data.buffer, data.byteOffset, data.byteLength)
  switch (data[0]) {
    case TRANSFER: {
      const [source, destination, authority, ...extraAccounts] = accounts
      return transfer({ source, destination, authority, extraAccounts, amountRaw: u64(bytes, 1) })
    }
    case TRANSFER_CHECKED: {
      const [source, , destination, authority, ...extraAccounts] = accounts
      return transfer({ source, destination, authority, extraAccounts, amountRaw: u64(bytes, 1) })
    }
    case TRANSFER_FEE_EXTENSION: {
      if (data[1] !== TRANSFER_CHECKED_WITH_FEE) return []
      const [source, , destination, authority, ...extraAccounts] = accounts
      // [tag, sub-tag, amount u64, decimals u8, fee u64]
      const [sentRaw, feeRaw] = [u64(bytes, 2), u64(bytes, 11)]
      const amountRaw = sentRaw === null || feeRaw === null ? null : sentRaw - feeRaw
      return transfer({ source, destination, authority, extraAccounts, amountRaw })
    }
    case BATCH:
      return batched(accounts, data.subarray(1)).flatMap(transfersOf)
    default:
      return []
  }
}

/** The instructions of a batch: [number of accounts, length of data, data] each, their accounts one after another. */
function batched(accounts: readonly string[], data: Uint8Array): Instruction[] {
  const instructions: Instruction[] = []
  let account = 0
  let offset = 0
  while (offset + 2 <= data.length) {
    const [accountCount = 0, length = 0] = data.subarray(offset, offset + 2)
    const inner = data.subarray(offset + 2, offset + 2 + length)
    // The program refuses a batch in a batch.
    if (inner[0] !== BATCH) {
      instructions.push({
        program: TOKEN_2022_PROGRAM,
        accounts: accounts.slice(account, account + accountCount),
        data: inner,
      })
    }
    account += accountCount
    offset += 2 + length
  }
  return instructions
}

type Parts = { [Field in keyof Omit<Transfer, 'amountRaw'>]: Transfer[Field] | undefined } & {
  amountRaw: bigint | null
}

/** An instruction with too few accounts or bytes has not run, so it moved nothing. */
function transfer({ source, destination, authority, amountRaw, extraAccounts }: Parts): Transfer[] {
  if (source === undefined || destination === undefined || authority === undefined || amountRaw === null) return []
  return [{ source, destination, authority, amountRaw, extraAccounts: extraAccounts ?? [] }]
}

function u64(bytes: DataView, offset: number): bigint | null {
  return offset + 8 <= bytes.byteLength ? bytes.getBigUint64(offset, true) : null
}
