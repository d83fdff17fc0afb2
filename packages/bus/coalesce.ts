import type { Ask, ReplyOf, RequestOf } from '@tollgate/contracts'
import { type CallOptions, exchange, subjectOf } from './call.ts'
import { codecOf, fromBytes, toBytes } from './codec.ts'
import { BusFault, faultKindOf } from './faults.ts'
import type { Requester } from './requester.ts'

/**
 * Questions in one message at most. They are answered together: were they all in one, everybody would wait for everybody's
 * answer, ask again at the same moment, and leave the answerer idle in between.
 */
const MESSAGE_MAX = 128

interface Waiting<A extends Ask> {
  wire: unknown
  resolve(reply: ReplyOf<A>): void
  reject(reason: unknown): void
}

/**
 * Questions that are asked within one turn of the event loop travel as one message, an array, and get one array back.
 * No timer: a single question leaves at the end of its turn. Answers and faults are each question's own.
 */
export function coalescer<A extends Ask>(requester: Requester, ask: A, options: CallOptions) {
  const waiting = new Map<string, Waiting<A>[]>()

  function flush(subject: string): void {
    const batch = waiting.get(subject) ?? []
    waiting.delete(subject)
    for (let start = 0; start < batch.length; start += MESSAGE_MAX) {
      void send(requester, ask, subject, batch.slice(start, start + MESSAGE_MAX), options)
    }
  }

  return function call(request: RequestOf<A>): Promise<ReplyOf<A>> {
    const subject = subjectOf(ask, request)
    const wire = codecOf(ask.request).toWire(request)
    return new Promise((resolve, reject) => {
      const item = { wire, resolve, reject }
      const batch = waiting.get(subject)
      if (batch) {
        batch.push(item)
        return
      }
      waiting.set(subject, [item])
      setImmediate(flush, subject)
    })
  }
}

async function send<A extends Ask>(
  requester: Requester,
  ask: A,
  subject: string,
  batch: Waiting<A>[],
  options: CallOptions,
): Promise<void> {
  try {
    const payload = toBytes(batch.map(item => item.wire))
    const replies = fromBytes(await exchange(requester, subject, payload, options))
    if (!Array.isArray(replies) || replies.length !== batch.length) {
      throw new BusFault('invalid', `${subject} answered ${batch.length} questions with something else`)
    }
    batch.forEach((item, index) => {
      answer(ask, item, replies[index])
    })
  } catch (fault) {
    for (const item of batch) item.reject(fault)
  }
}

function answer<A extends Ask>(ask: A, item: Waiting<A>, wire: unknown): void {
  const kind = faultKindOf(wire)
  if (kind) {
    item.reject(new BusFault(kind, `${ask.subject} answered with a fault`))
    return
  }
  try {
    item.resolve(codecOf(ask.reply).fromWire(wire) as ReplyOf<A>)
  } catch (fault) {
    item.reject(fault)
  }
}
