import { type Ask, type ReplyOf, type RequestOf, shardOf } from '@tollgate/contracts'
import type { MsgHdrs } from 'nats'
import { codecOf, fromBytes, toBytes } from './codec.ts'
import { BusFault, FAULT_HEADER, faultKindFrom } from './faults.ts'
import type { Requester } from './requester.ts'

export interface CallOptions {
  /** Total time to get an answer, over all attempts. */
  deadlineMs?: number
  /** Time for one attempt; a timed-out attempt may have been executed, so the next carries the same ids. */
  attemptMs?: number
  /** No second attempt: for whoever has to look again whether the question still stands. */
  once?: boolean
  headers?: MsgHdrs
}

const DEADLINE_MS = 5_000
const ATTEMPT_MS = 2_000
const RETRY_WAIT_MS = { first: 10, most: 200 } as const

/** The subject of a question: money subjects end in the shard of the account. */
export function subjectOf<A extends Ask>(ask: A, request: RequestOf<A>): string {
  if (!ask.sharded) return ask.subject
  // A sharded ask's request names its account: a rule of the contracts (ask.ts).
  return `${ask.subject}.${shardOf((request as { account: string }).account)}`
}

/**
 * Asks one question and waits for its answer. Every contract is safe to repeat, so no answer means: ask again, with the
 * same content, until the deadline. Throws `BusFault('unavailable')` then, and the answerer's fault when it says one.
 */
export async function callOne<A extends Ask>(
  requester: Requester,
  ask: A,
  request: RequestOf<A>,
  options: CallOptions,
): Promise<ReplyOf<A>> {
  const payload = toBytes(codecOf(ask.request).toWire(request))
  const answer = await exchange(requester, subjectOf(ask, request), payload, options)
  return codecOf(ask.reply).fromWire(fromBytes(answer)) as ReplyOf<A>
}

/** Sends bytes to a subject until somebody answers with bytes. */
export async function exchange(
  requester: Requester,
  subject: string,
  payload: Uint8Array,
  options: CallOptions,
): Promise<Uint8Array> {
  const deadline = performance.now() + (options.deadlineMs ?? DEADLINE_MS)
  let waitMs: number = RETRY_WAIT_MS.first
  for (;;) {
    const remainingMs = deadline - performance.now()
    const fault = await attempt(requester, subject, payload, options, remainingMs)
    if (fault instanceof Uint8Array) return fault
    if (options.once || fault.kind !== 'unavailable' || deadline - performance.now() <= waitMs) throw fault
    await Bun.sleep(waitMs)
    waitMs = Math.min(waitMs * 2, RETRY_WAIT_MS.most)
  }
}

async function attempt(
  requester: Requester,
  subject: string,
  payload: Uint8Array,
  options: CallOptions,
  remainingMs: number,
): Promise<Uint8Array | BusFault> {
  const timeout = Math.max(1, Math.min(options.attemptMs ?? ATTEMPT_MS, remainingMs))
  const answer = await requester.request(subject, payload, {
    timeoutMs: timeout,
    ...(options.headers && { headers: options.headers }),
  })
  if (typeof answer === 'string') return new BusFault('unavailable', `${subject} did not answer (${answer})`)
  const fault = answer.headers?.get(FAULT_HEADER)
  return fault ? new BusFault(faultKindFrom(fault), `${subject} answered with a fault`) : answer.data
}
