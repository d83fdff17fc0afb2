import { type Limit, type LimitName, limitStream, limitSubject } from '@tollgate/contracts'
import { Empty, type JetStreamManager } from 'nats'
import type { Requester, Silence } from './requester.ts'
import { storeErrorOf } from './stored.ts'
import { ensureStream } from './streams.ts'

/** 10077 has several causes; only with this text does it mean that the caller's window is full. */
const STORE_REFUSED = 10077
const WINDOW_FULL_TEXT = 'maximum messages per subject exceeded'
/** Long: a server that is merely busy must not make a limit open. Whoever waits knows by the connection when there is none. */
const TAKE_TIMEOUT_MS = 2_000

/** `unknown`: JetStream could not answer, and the caller decides by the limit's `whenUnknown`. */
export type Take = { status: 'taken' } | { status: 'full'; retryAfterMs: number } | { status: 'unknown' }

/** A sliding window over all routers: each taken place is a message that lives exactly as long as the window. */
export interface Limiter {
  ensure(): Promise<void>
  /** Takes a place for a caller; `callerToken` is a base64url hash, since spaces in a subject hang the publish. */
  take(callerToken: string): Promise<Take>
}

export function limiter(requester: Requester, manager: JetStreamManager, name: LimitName, limit: Limit): Limiter {
  const stream = limitStream(name)
  const asking = new Map<string, Promise<number>>()

  const ensure = () =>
    ensureStream(manager, {
      name: stream,
      subjects: [limitSubject(name, '*')],
      storage: 'memory',
      retention: 'limits',
      maxAgeMs: limit.windowMs,
      // Places are never deduplicated; the server wants a window all the same, no longer than the age.
      duplicateWindowMs: Math.min(limit.windowMs, 100),
      maxPerSubject: limit.count,
    })

  /** Takes a place, or says why JetStream did not answer. */
  async function publish(subject: string): Promise<Take | Silence> {
    const answer = await requester.request(subject, Empty, { timeoutMs: TAKE_TIMEOUT_MS })
    if (typeof answer === 'string') return answer
    const error = storeErrorOf(answer)
    if (!error) return { status: 'taken' }
    const isFull = error.code === STORE_REFUSED && error.description.includes(WINDOW_FULL_TEXT)
    return isFull ? { status: 'full', retryAfterMs: await untilFree(subject) } : { status: 'unknown' }
  }

  /** When the oldest place in the window is given back. Of many calls that are refused at once, one asks. */
  function untilFree(subject: string): Promise<number> {
    const asked = asking.get(subject) ?? askOldest(subject).finally(() => asking.delete(subject))
    asking.set(subject, asked)
    return asked
  }

  async function askOldest(subject: string): Promise<number> {
    try {
      // `next_by_subj` is the server's (2.9 on); the client's types lag behind it and pass it on.
      const query = { seq: 1, next_by_subj: subject }
      const oldest = await manager.streams.getMessage(stream, query)
      return Math.max(1, oldest.time.getTime() + limit.windowMs - Date.now())
    } catch {
      // It was given back between the two questions.
      return 1
    }
  }

  return {
    ensure,
    async take(callerToken) {
      const subject = limitSubject(name, callerToken)
      const first = await publish(subject)
      if (typeof first !== 'string') return first
      if (first !== 'no_responders') return { status: 'unknown' }
      try {
        // Memory streams vanish with the server: make it anew and try once more.
        await ensure()
        const second = await publish(subject)
        return typeof second === 'string' ? { status: 'unknown' } : second
      } catch {
        return { status: 'unknown' }
      }
    },
  }
}
