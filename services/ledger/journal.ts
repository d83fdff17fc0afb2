import type { Enqueued } from '@tollgate/bus'
import type { ledger, WireOf } from '@tollgate/contracts'

/**
 * Entries of one message. A charge takes about 700 bytes, the longest reason of an adjustment 4 kB: a full message stays well
 * under the megabyte that NATS takes.
 */
export const MESSAGE_ENTRIES_MAX = 100

/** A row of the journal, as Postgres returns it. */
export interface JournalRow {
  seq: bigint
  op_id: string
  kind: ledger.JournalKind
  account: ledger.JournalEntry['account']
  key: ledger.JournalEntry['key']
  hold: string | null
  refusal: ledger.LedgerRefusal | null
  amount_micro: bigint
  shortfall_micro: bigint
  posted_micro: bigint
  held_micro: bigint
  detail: Record<string, unknown>
  at_ms: bigint
}

/** The journal as consumers and the account's owner see it. */
export function entryOf(row: JournalRow): ledger.JournalEntry {
  return {
    v: 1,
    seq: row.seq.toString(),
    id: row.op_id,
    kind: row.kind,
    account: row.account,
    key: row.key,
    hold: row.hold,
    refusal: row.refusal,
    amountMicro: row.amount_micro,
    shortfallMicro: row.shortfall_micro,
    postedMicro: row.posted_micro,
    heldMicro: row.held_micro,
    detail: row.detail,
    at: Number(row.at_ms),
  }
}

/**
 * Entries in the order of `seq` as messages of one kind each. Filled from the first entry on: whoever begins at the same
 * entry makes the same messages, but for the last of a kind, which may have grown; so a message's first and last entry name it.
 */
export function messagesOf(entries: readonly ledger.JournalEntry[]): Enqueued[] {
  const messages: Enqueued[] = []
  for (const [kind, all] of Map.groupBy(entries, entry => entry.kind)) {
    for (let from = 0; from < all.length; from += MESSAGE_ENTRIES_MAX) {
      const told = all.slice(from, from + MESSAGE_ENTRIES_MAX)
      const id = `${told[0]?.id}..${told.at(-1)?.id}`
      messages.push({ subject: `events.ledger.${kind}`, id, wire: told.map(wireOf) })
    }
  }
  return messages
}

/** As it travels: amounts are integers that JSON can hold, which the contract's own encoder would check at some cost. */
function wireOf(entry: ledger.JournalEntry): WireOf<typeof ledger.JournalEntry> {
  return {
    ...entry,
    amountMicro: Number(entry.amountMicro),
    shortfallMicro: Number(entry.shortfallMicro),
    postedMicro: Number(entry.postedMicro),
    heldMicro: Number(entry.heldMicro),
  }
}
