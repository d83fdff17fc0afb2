import type { Ask, ReplyOf, RequestOf } from '@tollgate/contracts'
import { headers, type Msg, type NatsConnection, type Subscription } from 'nats'
import { codecOf, fromBytes, toBytes } from './codec.ts'
import { BusFault, FAULT_HEADER, type FaultKind, faultItem } from './faults.ts'
import type { Requester } from './requester.ts'

/** Answers one question; on a batched ask, all the questions of a message, in their order. A `BusFault` as an item is that item's own. */
export type Handler<A extends Ask> = A['batched'] extends true ? BatchHandler<A> : SingleHandler<A>
export type SingleHandler<A extends Ask> = (request: RequestOf<A>) => Promise<ReplyOf<A>> | ReplyOf<A>
export type BatchHandler<A extends Ask> = (requests: RequestOf<A>[]) => Promise<(ReplyOf<A> | BusFault)[]>

export interface ServeOptions {
  /** Messages in work at once; more are told to ask again. */
  inFlightMax?: number
  onFault?(subject: string, fault: unknown): void
}

const IN_FLIGHT_MAX = 4_096

/** A running answerer; `drain` stops taking questions and ends when those in work are answered. */
export interface Served {
  drain(): Promise<void>
}

/**
 * Answers a subject in the owner's queue group, so that replicas share the questions. The client library does not await
 * handlers (its callbacks are fire and forget), so this counts them itself: for the bound, and to drain.
 */
export function serveAsk<A extends Ask>(
  connection: NatsConnection,
  requester: Requester,
  ask: A,
  work: (wire: unknown) => Promise<unknown>,
  options: ServeOptions,
): Served {
  const inFlight = new Set<Promise<void>>()
  const inFlightMax = options.inFlightMax ?? IN_FLIGHT_MAX
  const subject = ask.sharded ? `${ask.subject}.*` : ask.subject

  const subscription: Subscription = connection.subscribe(subject, {
    queue: ask.owner,
    callback: (error, message) => {
      if (error) return options.onFault?.(subject, error)
      if (inFlight.size >= inFlightMax) return respondFault(message, 'unavailable')
      const job = respond(requester, message, work, options).finally(() => inFlight.delete(job))
      inFlight.add(job)
    },
  })

  return {
    async drain() {
      await subscription.drain().catch(() => undefined)
      await Promise.all(inFlight)
    },
  }
}

async function respond(
  requester: Requester,
  message: Msg,
  work: (wire: unknown) => Promise<unknown>,
  options: ServeOptions,
): Promise<void> {
  try {
    requester.publish(message.reply ?? '', toBytes(await work(fromBytes(message.data))))
  } catch (fault) {
    options.onFault?.(message.subject, fault)
    respondFault(message, fault instanceof BusFault ? fault.kind : 'internal')
  }
}

function respondFault(message: Msg, kind: FaultKind): void {
  const header = headers()
  header.set(FAULT_HEADER, kind)
  try {
    message.respond(undefined, { headers: header })
  } catch {
    // The connection is gone: the caller times out and asks again, which is what a fault would have told it.
  }
}

/** The work of an unbatched ask: one question in, one answer out. */
export function singleWork<A extends Ask>(ask: A, handler: SingleHandler<A>): (wire: unknown) => Promise<unknown> {
  const request = codecOf(ask.request)
  const reply = codecOf(ask.reply)
  return async wire => reply.toWire(await handler(request.fromWire(wire) as RequestOf<A>))
}

/** The work of a batched ask. A question that does not fit its contract is refused alone; the others are answered. */
export function batchWork<A extends Ask>(
  ask: A,
  handler: BatchHandler<A>,
  onFault: ServeOptions['onFault'],
): (wire: unknown) => Promise<unknown> {
  const request = codecOf(ask.request)
  const reply = codecOf(ask.reply)
  return async wires => {
    if (!Array.isArray(wires)) throw new BusFault('invalid', `${ask.subject} takes an array`)
    const answers: unknown[] = new Array(wires.length).fill(faultItem('invalid'))
    const asked: RequestOf<A>[] = []
    const places: number[] = []
    wires.forEach((wire, index) => {
      try {
        asked.push(request.fromWire(wire) as RequestOf<A>)
        places.push(index)
      } catch (fault) {
        onFault?.(ask.subject, fault)
      }
    })
    const replies = asked.length > 0 ? await handler(asked) : []
    replies.forEach((item, index) => {
      answers[places[index] ?? 0] = item instanceof BusFault ? faultItem(item.kind) : reply.toWire(item)
    })
    return answers
  }
}
