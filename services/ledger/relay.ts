import type { ledger } from '@tollgate/contracts'
import type { Store } from './store.ts'

/** How late an entry may be told, twice over; and what a round is spread over, whose five questions cost as much as some entries. */
export const RELAY_EVERY_MS = 100
/** Entries that are published together, and confirmed by one note of progress. */
const RELAY_MAX = 1_000

export interface RelayOptions {
  store: Pick<Store, 'lastSeq' | 'nextTransaction' | 'oldestTransaction' | 'entriesBetween' | 'progressed'>
  /** Done when all are stored, those of a kind in their order. */
  publish(entries: readonly ledger.JournalEntry[]): Promise<void>
  onRelayed?(left: bigint): void
}

/**
 * Publishes the journal, each kind in its order, from where the last relay got to.
 *
 * Several ledgers write at once, and an entry with a lower seq may be committed after one with a higher: reading "all after
 * the last" would lose it. So a round first notes how far seqs were given out, then takes a transaction number: whoever
 * holds one of those seqs has a lower number. Once no transaction below that number is under way, all those entries are
 * visible, and what is missing among them was rolled back. No column, no lock, and nothing that a restore would upset.
 */
export function relay({ store, publish, onRelayed }: RelayOptions) {
  let cursor = 0n
  let safe = 0n
  let pending: { seq: bigint; transaction: bigint } | undefined

  async function advance(): Promise<void> {
    if (!pending) {
      const seq = await store.lastSeq()
      if (seq <= safe) return
      pending = { seq, transaction: await store.nextTransaction() }
    }
    if ((await store.oldestTransaction()) < pending.transaction) return
    safe = pending.seq
    pending = undefined
  }

  return {
    begin(progress: bigint): void {
      cursor = progress
      safe = progress
      pending = undefined
    },
    async round(): Promise<boolean> {
      if (cursor >= safe) await advance()
      if (cursor >= safe) return false
      const entries = await store.entriesBetween(cursor, safe, RELAY_MAX)
      await publish(entries)
      const reached = entries.length < RELAY_MAX ? safe : BigInt(entries.at(-1)?.seq ?? safe)
      await store.progressed('relay', reached)
      cursor = reached
      onRelayed?.(safe - cursor)
      // What came in meanwhile waits for the next round, so that a busy ledger's entries travel by the hundred.
      return cursor < safe
    },
  }
}
