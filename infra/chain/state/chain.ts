import { type AccountState, Bank, type BlockContext, type Outcome } from './bank.ts'
import { Blockhashes } from './blockhashes.ts'
import { type Execution, execute } from './execution.ts'
import type { Genesis } from './genesis.ts'
import { type Journal, type JournalEntry, restoreAccount, storeAccount } from './journal.ts'
import { Ledger, type TransactionRecord } from './ledger.ts'
import { type DecodedTransaction, signatureOf } from './message.ts'
import { epochOf, type SlotClock } from './slot-clock.ts'
import type { TransactionError } from './transaction-error.ts'

export type Simulation = Outcome & { accounts: AccountState[] }

/** A transaction's fate: what it was refused for, or the record of it (which may carry an error too). */
export type Submission = { err: TransactionError | null; record: TransactionRecord | null }

/** How many of the last transactions can be rolled back; what they replaced is kept in memory. */
const UNDO_DEPTH = 1_000

/** The chain: accounts, transactions, slots and blockhashes, kept together and written down before anyone is told. */
export class Chain {
  readonly genesis: Genesis
  readonly clock: SlotClock
  readonly bank = new Bank()
  readonly ledger = new Ledger()
  readonly blockhashes: Blockhashes
  readonly #undo = new Map<string, AccountState[]>()
  readonly #listeners = new Set<(record: TransactionRecord, changed: string[]) => void>()
  #journal: Journal

  constructor(options: { genesis: Genesis; clock: SlotClock; journal: Journal }) {
    this.genesis = options.genesis
    this.clock = options.clock
    this.blockhashes = new Blockhashes(options.genesis.genesisHash)
    this.#journal = options.journal
  }

  /** Replays a journal's entries: accounts are put back as they were written, nothing runs again. */
  restore(entries: JournalEntry[]): void {
    for (const entry of entries) {
      if (entry.kind === 'clock') continue
      this.bank.write(entry.accounts.map(restoreAccount))
      if (entry.kind === 'transaction') this.ledger.add(entry.record)
      if (entry.kind === 'rollback') for (const signature of entry.signatures) this.ledger.remove(signature)
    }
  }

  /** Goes on with another journal, which must already hold everything so far. */
  continueIn(journal: Journal): void {
    this.#journal = journal
  }

  /** Called after each landed transaction with it and the addresses of the accounts that it changed. */
  onTransaction(listener: (record: TransactionRecord, changed: string[]) => void): void {
    this.#listeners.add(listener)
  }

  /** Runs a transaction in the current slot and writes it down. When that fails nothing has happened, and it throws. */
  submit(transaction: DecodedTransaction): Submission {
    const refused = this.#refusal(transaction)
    if (refused !== null) return { err: refused, record: null }
    const execution = execute(this.bank, transaction, this.#context())
    if (execution.record !== null) this.#commit(execution.record, execution)
    return { err: execution.err, record: execution.record }
  }

  /** Runs a transaction without effects, as preflight does. */
  simulate(
    transaction: DecodedTransaction,
    options: { verifySignatures: boolean; anyBlockhash?: boolean },
  ): Simulation | { refused: TransactionError } {
    const refused = this.#refusal(transaction, options.anyBlockhash)
    if (refused !== null) return { refused }
    return this.bank.simulate(transaction, this.#context(), options.verifySignatures)
  }

  /**
   * Undoes a transaction and all later ones, as a fork that lost does; their senders may send them again.
   * Answers their signatures, oldest first. Throws when it is unknown or further back than `UNDO_DEPTH`.
   */
  rollback(signature: string): string[] {
    const recent = [...this.#undo.keys()]
    const from = recent.indexOf(signature)
    if (from === -1) throw new Error(`${signature} is not among the last ${UNDO_DEPTH} transactions since the start`)
    const signatures = recent.slice(from)
    const accounts = signatures.toReversed().flatMap(undone => this.#undo.get(undone) ?? [])
    this.#journal.append({
      kind: 'rollback',
      signatures,
      accounts: accounts.map(storeAccount),
      clock: this.clock.state(),
    })
    this.bank.write(accounts)
    for (const undone of signatures) {
      this.ledger.remove(undone)
      this.#undo.delete(undone)
    }
    return signatures
  }

  /** Lets slots pass at once. */
  advanceSlots(slots: number): void {
    this.clock.advance(slots)
    this.#journal.append({ kind: 'clock', clock: this.clock.state() })
  }

  /** Moves the time of later blocks. */
  shiftTime(ms: number): void {
    this.clock.shiftTime(ms)
    this.#journal.append({ kind: 'clock', clock: this.clock.state() })
  }

  close(): void {
    this.#journal.close()
  }

  #refusal(transaction: DecodedTransaction, anyBlockhash = false): TransactionError | null {
    const { recentBlockhash } = transaction.message
    if (!anyBlockhash && !this.blockhashes.isValid(recentBlockhash, this.clock.slot())) return 'BlockhashNotFound'
    return this.ledger.get(signatureOf(transaction)) === null ? null : 'AlreadyProcessed'
  }

  #commit(record: TransactionRecord, { before, after }: Execution): void {
    const accounts = after.map(storeAccount)
    try {
      this.#journal.append({ kind: 'transaction', record, accounts, clock: this.clock.state() })
    } catch (error) {
      this.bank.write(before)
      throw error
    }
    this.ledger.add(record)
    this.#undo.set(record.signature, before)
    for (const oldest of this.#undo.keys()) {
      if (this.#undo.size <= UNDO_DEPTH) break
      this.#undo.delete(oldest)
    }
    const changed = after.map(({ address }) => address)
    for (const listener of this.#listeners) listener(record, changed)
  }

  #context(): BlockContext {
    const slot = this.clock.slot()
    // All transactions of a block share its time.
    const timeSec = this.ledger.timeOf(slot) ?? this.clock.timeSec()
    return { slot, epoch: epochOf(slot), timeSec, hashOf: at => this.blockhashes.at(at) }
  }
}
