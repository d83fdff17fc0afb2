import type { LoadedAddresses } from './message.ts'
import type { TransactionError } from './transaction-error.ts'

export type TokenBalance = {
  accountIndex: number
  mint: string
  owner: string
  programId: string
  decimals: number
  /** Base units, as a decimal string. */
  amountRaw: string
}

export type InnerInstructions = {
  index: number
  instructions: { programIdIndex: number; accounts: number[]; data: string; stackHeight: number }[]
}

/** All that is kept of a landed transaction. Plain JSON: it is a line of the journal too. Lamports fit safe integers. */
export type TransactionRecord = {
  signature: string
  slot: number
  timeSec: number
  /** The transaction as sent, base64. */
  wire: string
  err: TransactionError | null
  fee: number
  computeUnits: number
  logs: string[]
  inner: InnerInstructions[]
  preBalances: number[]
  postBalances: number[]
  preTokenBalances: TokenBalance[]
  postTokenBalances: TokenBalance[]
  loaded: LoadedAddresses
  returnData: { programId: string; data: string } | null
  /** Every account the transaction names, loaded and read-only ones included. */
  keys: string[]
  memo: string | null
}

/** The landed transactions in the order in which they ran, by signature and by every account they name. */
export class Ledger {
  readonly #bySignature = new Map<string, { record: TransactionRecord; position: number }>()
  readonly #byAddress = new Map<string, TransactionRecord[]>()
  readonly #timeBySlot = new Map<number, number>()

  get count(): number {
    return this.#bySignature.size
  }

  add(record: TransactionRecord): void {
    this.#bySignature.set(record.signature, { record, position: this.count })
    this.#timeBySlot.set(record.slot, record.timeSec)
    for (const key of new Set(record.keys)) {
      const history = this.#byAddress.get(key)
      if (history) history.push(record)
      else this.#byAddress.set(key, [record])
    }
  }

  get(signature: string): TransactionRecord | null {
    return this.#bySignature.get(signature)?.record ?? null
  }

  /** A transaction's place in the order of all, or null when it never landed. */
  position(signature: string): number | null {
    return this.#bySignature.get(signature)?.position ?? null
  }

  /** The transactions that name an address, oldest first. */
  history(address: string): readonly TransactionRecord[] {
    return this.#byAddress.get(address) ?? []
  }

  /** Unix seconds of a block that holds transactions, or null for an empty one. */
  timeOf(slot: number): number | null {
    return this.#timeBySlot.get(slot) ?? null
  }

  /** Forgets a transaction; only ever the newest ones are removed, so positions stay unique. */
  remove(signature: string): void {
    const record = this.get(signature)
    if (record === null) return
    this.#bySignature.delete(signature)
    for (const key of new Set(record.keys)) {
      const rest = this.history(key).filter(other => other !== record)
      if (rest.length > 0) this.#byAddress.set(key, rest)
      else this.#byAddress.delete(key)
    }
  }
}
