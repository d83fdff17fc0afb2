import { type Bus, BusFault, codecOf } from '@tollgate/bus'
import { ledger, type ReplyOf, type RequestOf, shardOf } from '@tollgate/contracts'
import type { Log } from '@tollgate/service'
import { within } from './within.ts'

/** What ends a hold. */
export type Settlement =
  | { readonly kind: 'settle'; readonly request: RequestOf<typeof ledger.settle> }
  | { readonly kind: 'release'; readonly request: RequestOf<typeof ledger.release> }

/** The ledger's answer; null when the settlement waits in the work queue, where the ledger will find it. */
export type Settled = ReplyOf<typeof ledger.settle> | ReplyOf<typeof ledger.release> | null

export interface Settlements {
  /** Delivers a settlement, however long it takes. Never throws; the same id is sent again until it is answered. */
  deliver(settlement: Settlement): Promise<Settled>
  /** How many wait in memory. */
  readonly waiting: number
  /** True when more would exceed the memory set aside for them: nothing new may be held. */
  readonly full: boolean
  /** Resolves when none waits, or after `withinMs`. */
  drained(withinMs: number): Promise<void>
}

/** The ledger is local: what it does not answer within this time goes to the queue. A restart of it takes about a second. */
const ASK = { deadlineMs: 3_000, attemptMs: 1_500 } as const
const RETRY_MS = { first: 100, most: 2_000 } as const

/**
 * Carries settlements to the ledger: asked directly; through the work queue while only the ledger is away; from memory while
 * NATS is away too. What is still in memory when the process dies is charged by the hold's expiry.
 */
export function openSettlements({ bus, log, waitingMax }: { bus: Bus; log: Log; waitingMax: number }): Settlements {
  const waiting = new Set<Promise<Settled>>()

  async function deliver(settlement: Settlement): Promise<Settled> {
    for (let waitMs: number = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.most)) {
      try {
        const reply = await ask(settlement)
        if (reply?.status === 'refused' && settlement.kind === 'settle') {
          const { reason } = reply
          log.error({ settlement: settlement.request.id, reason, alert: true }, 'the ledger refused a settlement')
        }
        return reply
      } catch (fault) {
        if (fault instanceof BusFault && fault.kind === 'invalid') {
          log.error(
            { err: fault, settlement: settlement.request.id, alert: true },
            'a settlement does not fit its contract',
          )
          return null
        }
        log.warn({ err: fault, settlement: settlement.request.id }, 'the ledger did not take a settlement')
      }
      if (bus.connected && (await queued(settlement))) return null
      await Bun.sleep(waitMs)
    }
  }

  function ask({ kind, request }: Settlement): Promise<Settled> {
    return kind === 'settle' ? bus.call(ledger.settle, request, ASK) : bus.call(ledger.release, request, ASK)
  }

  async function queued({ kind, request }: Settlement): Promise<boolean> {
    const wire =
      kind === 'settle'
        ? codecOf(ledger.settle.request).toWire(request)
        : codecOf(ledger.release.request).toWire(request)
    const subject = `${ledger.SETTLEMENTS_SUBJECT}.${shardOf(request.account)}`
    try {
      await bus.enqueue(subject, wire, { id: request.id })
      return true
    } catch (err) {
      log.warn({ err, settlement: request.id }, 'the queue did not take a settlement')
      return false
    }
  }

  return {
    deliver(settlement) {
      const delivery = deliver(settlement).finally(() => waiting.delete(delivery))
      waiting.add(delivery)
      return delivery
    },
    get waiting() {
      return waiting.size
    },
    get full() {
      return waiting.size >= waitingMax
    },
    async drained(withinMs) {
      await within(Promise.allSettled(waiting), withinMs)
    },
  }
}
