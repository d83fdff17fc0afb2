import type { Limiter, Take } from '@tollgate/bus'
import { type Limit, PublicError } from '@tollgate/contracts'
import { Window } from './window.ts'

/** What a limit says of a call that may go on, or not. */
export interface Decision {
  readonly allowed: boolean
  readonly limit: number
  /** This router's own view: no more is left, and less where other routers let calls through. */
  readonly remaining: number
  /** Until the caller's window is empty again. */
  readonly resetMs: number
  /** Until the next place is free; 0 when the call may go on. */
  readonly retryAfterMs: number
}

export interface Gate {
  /** Takes a place for a caller. Throws 503 where the window can't be known and the limit does not let that pass. */
  take(callerToken: string): Promise<Decision>
  ensure(): Promise<void>
}

/** What a router knows of a caller's window. */
interface Known {
  window: Window
  /** Until then JetStream would refuse. */
  fullUntil: number
  /** Places that JetStream is being asked for. */
  asking: number
  /** Settled when that changes what those who wait can expect. */
  changed: PromiseWithResolvers<void> | null
}

export interface GateOptions {
  limit: Limit
  limiter: Limiter
  isConnected(): boolean
  nowMs?(): number
}

/** Callers whose windows are remembered; who falls out is asked of JetStream again. */
const CALLERS_MAX = 50_000
/** How long a paid call may go on without JetStream, by the router's own count. */
const ALONE_FOR_MS_MAX = 60_000
/** After JetStream did not answer, calls do not wait for it each on their own. */
const ASK_AGAIN_MS = 250

/**
 * One limit as a router applies it: JetStream counts over all routers, the router remembers what it heard. Of any flood of one
 * caller, JetStream is asked for no more places than a window has.
 */
export function createGate({ limit, limiter, isConnected, nowMs = () => performance.now() }: GateOptions): Gate {
  const { count, windowMs } = limit
  const callers = new Map<string, Known>()
  let aloneSince: number | null = null
  let askAgainAt = -Infinity

  function knownOf(token: string): Known {
    const known = callers.get(token) ?? { window: new Window(), fullUntil: 0, asking: 0, changed: null }
    callers.delete(token)
    callers.set(token, known)
    if (callers.size > CALLERS_MAX) {
      const [oldest] = callers.keys()
      if (oldest !== undefined) callers.delete(oldest)
    }
    return known
  }

  function allowed({ window }: Known, at: number): Decision {
    // The time of asking, so that the place is given back here no later than there.
    window.add(at)
    const remaining = Math.max(0, count - window.count(at, windowMs))
    return { allowed: true, limit: count, remaining, resetMs: window.untilEmpty(at, windowMs), retryAfterMs: 0 }
  }

  function refused({ window }: Known, at: number, retryAfterMs: number): Decision {
    window.count(at, windowMs)
    const resetMs = Math.max(retryAfterMs, window.untilEmpty(at, windowMs))
    return { allowed: false, limit: count, remaining: 0, resetMs, retryAfterMs }
  }

  /** JetStream does not say: by the router's own count, for a bounded time, where the limit allows that. */
  function decideAlone(known: Known, at: number): Decision {
    aloneSince ??= at
    if (limit.whenUnknown === 'refuse' || at - aloneSince > ALONE_FOR_MS_MAX) {
      throw new PublicError('service_unavailable', 'limits can’t be checked right now; try again', {
        retryAfterSeconds: 1,
      })
    }
    if (known.window.count(at, windowMs) < count) return allowed(known, at)
    return refused(known, at, known.window.untilFirstLeaves(at, windowMs))
  }

  function decide(known: Known, take: Take, askedAt: number): Decision {
    const now = nowMs()
    if (take.status === 'unknown') {
      askAgainAt = now + ASK_AGAIN_MS
      return decideAlone(known, now)
    }
    aloneSince = null
    if (take.status === 'taken') return allowed(known, askedAt)
    known.fullUntil = now + Math.min(take.retryAfterMs, windowMs)
    return refused(known, now, take.retryAfterMs)
  }

  async function ask(known: Known, token: string, at: number): Promise<Decision> {
    known.asking++
    let take: Take = { status: 'unknown' }
    try {
      take = await limiter.take(token)
      return decide(known, take, at)
    } finally {
      known.asking--
      // One that was taken changes nothing for who waits: it counts as it did when it was asked for.
      if (take.status !== 'taken' || known.asking === 0) {
        known.changed?.resolve()
        known.changed = null
      }
    }
  }

  return {
    async ensure() {
      await limiter.ensure()
      // JetStream has just answered.
      askAgainAt = -Infinity
    },
    async take(token) {
      const known = knownOf(token)
      for (;;) {
        const at = nowMs()
        if (known.fullUntil > at) return refused(known, at, known.fullUntil - at)
        const own = known.window.count(at, windowMs)
        if (own >= count) return refused(known, at, known.window.untilFirstLeaves(at, windowMs))
        if (!isConnected() || at < askAgainAt) return decideAlone(known, at)
        if (own + known.asking < count) return ask(known, token, at)
        // As many are under way as there are places. Each round ends with an answer of JetStream, which ends by its timeout.
        known.changed ??= Promise.withResolvers()
        await known.changed.promise
      }
    },
  }
}
