import { codecOf } from '@tollgate/bus'
import { ledger } from '@tollgate/contracts'

/** One settlement, as usage counts it. */
export interface Charge {
  id: string
  account: string
  /** Day of the settlement, UTC. */
  day: string
  atMs: number
  model: string
  /** Null: called with a session. */
  key: string | null
  promptTokens: number
  cachedTokens: number
  completionTokens: number
  costMicro: bigint
}

export interface Told {
  charges: Charge[]
  /** Ids of entries that do not fit the contract, of another age perhaps; null where there is none. */
  unreadable: (string | null)[]
}

/** The usage in the journal entries of a message, as on the wire. One by one, so that none spoils the others. */
export function chargesOf(entries: readonly unknown[]): Told {
  const told: Told = { charges: [], unreadable: [] }
  for (const wire of entries) {
    try {
      const charge = chargeOf(codecOf(ledger.JournalEntry).fromWire(wire))
      if (charge) told.charges.push(charge)
    } catch {
      // The id says enough: the fault carries the whole row, which no log may hold.
      told.unreadable.push(idIn(wire))
    }
  }
  return told
}

/** Null for what is no charge, as a refusal. Throws where the detail does not fit. */
function chargeOf(entry: ledger.JournalEntry): Charge | null {
  if (entry.kind !== 'settle' || entry.refusal !== null) return null
  const detail = codecOf(ledger.ChargeDetail).fromWire(entry.detail)
  return {
    id: entry.id,
    account: entry.account,
    day: dayOf(entry.at),
    atMs: entry.at,
    model: detail.model,
    key: entry.key,
    promptTokens: detail.promptTokens,
    cachedTokens: detail.cachedTokens,
    completionTokens: detail.completionTokens,
    costMicro: -entry.amountMicro,
  }
}

function idIn(wire: unknown): string | null {
  return typeof wire === 'object' && wire !== null && 'id' in wire && typeof wire.id === 'string' ? wire.id : null
}

/** The UTC day of a moment, as `2026-11-20`. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}
