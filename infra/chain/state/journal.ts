import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { AccountState } from './bank.ts'
import type { Genesis } from './genesis.ts'
import type { TransactionRecord } from './ledger.ts'
import type { ClockState } from './slot-clock.ts'

/** One line each. Replaying the lines in order, with no program run again, gives the chain's state. */
export type JournalEntry =
  | { kind: 'genesis'; v: number; genesis: Genesis; accounts: StoredAccount[]; clock: ClockState }
  | { kind: 'transaction'; record: TransactionRecord; accounts: StoredAccount[]; clock: ClockState }
  | { kind: 'rollback'; signatures: string[]; accounts: StoredAccount[]; clock: ClockState }
  | { kind: 'clock'; clock: ClockState }

/** An account after the entry: [address, owner, lamports, data in base64, executable]; 0 lamports means gone. */
export type StoredAccount = [string, string, string, string, boolean]

export type Journal = { append(entry: JournalEntry): void; close(): void }

const FILE = 'journal.jsonl'

/**
 * Appends to a file. A line is handed to the operating system before `append` returns, so it survives the death of the
 * process; it is not forced to the disk, so it may not survive the death of the machine.
 */
export class FileJournal implements Journal {
  readonly #file: number
  #size: number

  private constructor(path: string) {
    this.#file = openSync(path, 'a')
    this.#size = fstatSync(this.#file).size
  }

  /** Opens a chain's journal, or answers null where none was completed yet. */
  static open(directory: string): { journal: FileJournal; entries: JournalEntry[] } | null {
    const path = join(directory, FILE)
    if (!existsSync(path)) return null
    const entries = readEntries(path)
    return { journal: new FileJournal(path), entries }
  }

  /** Starts a journal with these entries at once: a crash before the rename leaves no chain rather than half of one. */
  static create(directory: string, entries: JournalEntry[]): FileJournal {
    mkdirSync(directory, { recursive: true })
    const path = join(directory, FILE)
    writeFileSync(`${path}.new`, entries.map(toLine).join(''))
    renameSync(`${path}.new`, path)
    return new FileJournal(path)
  }

  append(entry: JournalEntry): void {
    const line = Buffer.from(toLine(entry))
    const written = writeSync(this.#file, line)
    if (written !== line.length) {
      ftruncateSync(this.#file, this.#size)
      throw new Error(`The journal took ${written} of ${line.length} bytes: is the disk full?`)
    }
    this.#size += line.length
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** Keeps the entries of a chain that is still being set up, or forgets those of one that lives in memory only. */
export class MemoryJournal implements Journal {
  entries: JournalEntry[] = []

  append(entry: JournalEntry): void {
    this.entries.push(entry)
  }

  close(): void {}
}

export const discard: Journal = { append() {}, close() {} }

export function storeAccount({ address, owner, lamports, data, executable }: AccountState): StoredAccount {
  return [address, owner, lamports.toString(), Buffer.from(data).toString('base64'), executable]
}

export function restoreAccount([address, owner, lamports, data, executable]: StoredAccount): AccountState {
  return { address, owner, lamports: BigInt(lamports), data: Buffer.from(data, 'base64'), executable }
}

function toLine(entry: JournalEntry): string {
  return `${JSON.stringify(entry)}\n`
}

/** A line without its end was being written when the process died; nobody was told of it, so it goes. */
function readEntries(path: string): JournalEntry[] {
  const bytes = readFileSync(path)
  const end = bytes.lastIndexOf(0x0a) + 1
  if (end !== bytes.length) truncateSync(path, end)
  const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1)
  return lines.map(line => JSON.parse(line))
}
