import { type Bus, type Consuming, codecOf, type Delivery, fromBytes, type Verdict } from '@tollgate/bus'
import { EVENTS_STREAM, PAYMENTS_DURABLE, paymentSeen, paymentVanished, USAGE_DURABLE } from '@tollgate/contracts'
import type { Log } from '@tollgate/service'
import type { Settler } from './settle.ts'
import { chargesOf } from './usage/charge.ts'
import type { UsageStore } from './usage/store.ts'

/** Work that died with a replica is delivered to another after this long. */
const ACK_WAIT_MS = 10_000
/** Messages of settlements, which wait on one statement each: as many as the pool takes. */
const USAGE_CONCURRENCY = 8

const events = { stream: EVENTS_STREAM.name, ackWaitMs: ACK_WAIT_MS }
const payments = { ...events, durable: PAYMENTS_DURABLE, subject: 'events.payment.*' }
const settlements = {
  ...events,
  durable: USAGE_DURABLE,
  subject: 'events.ledger.settle',
  concurrency: USAGE_CONCURRENCY,
}

export interface Hearing {
  bus: Pick<Bus, 'consume'>
  settler: Settler
  usage: Pick<UsageStore, 'count'>
  log: Pick<Log, 'error'>
}

/** Hears what billing acts on. */
export function startConsumers({ bus, settler, usage, log }: Hearing): Consuming[] {
  return [bus.consume(payments, onPayment(settler)), bus.consume(settlements, onSettlements({ usage, log }))]
}

/** Throws the usage read model away and lets the events build it anew; what came meanwhile counts once like everything. */
export function rebuildUsage(bus: Bus, usage: UsageStore): Promise<void> {
  return bus.replay(settlements, () => usage.clear())
}

/** Payments as chain-watcher tells them. What fails is delivered again: every step of settling may be repeated. */
function onPayment(settler: Settler): (delivery: Delivery) => Promise<Verdict> {
  return async ({ subject, data }) => {
    if (subject === paymentSeen.subject) await settler.seen(codecOf(paymentSeen.payload).fromWire(fromBytes(data)))
    else if (subject === paymentVanished.subject) {
      await settler.vanished(codecOf(paymentVanished.payload).fromWire(fromBytes(data)).signature)
    }
    return 'done'
  }
}

/**
 * Settlements as the ledger's journal tells them, for the usage read model. What can't be read will not become readable:
 * it is named in the log, and the others of its message count.
 */
function onSettlements({ usage, log }: Pick<Hearing, 'usage' | 'log'>): (delivery: Delivery) => Promise<Verdict> {
  return async ({ data }) => {
    const entries = fromBytes(data)
    if (!Array.isArray(entries)) return { terminal: 'it is no list of entries' }
    const { charges, unreadable } = chargesOf(entries)
    for (const entry of unreadable) log.error({ entry }, 'a charge that cannot be read is not counted')
    if (charges.length > 0) await usage.count(charges)
    return 'done'
  }
}
