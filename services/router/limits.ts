import type { Bus } from '@tollgate/bus'
import { type Limit, type LimitName, PublicError } from '@tollgate/contracts'
import { createGate, type Decision, type Gate } from './gate.ts'

export type Limits = Readonly<Record<LimitName, Limit>>
export type Gates = Readonly<Record<LimitName, Gate>>

/** All gates of a router, over its bus. */
export function createGates(bus: Bus, limits: Limits): Gates {
  const gate = (name: LimitName) =>
    createGate({ limit: limits[name], limiter: bus.limiter(name, limits[name]), isConnected: () => bus.connected })
  return { chat: gate('chat'), nonce: gate('nonce'), keys: gate('keys'), topup: gate('topup'), verify: gate('verify') }
}

/** The answer to a call over its limit. `retry-after` is honest, also where the window is an hour. */
export function rateLimited(decision: Decision): Response {
  const message = 'too many calls; wait for retry-after seconds and try again'
  const answer = new PublicError('rate_limited', message).toResponse()
  answer.headers.set('retry-after', String(wholeSeconds(decision.retryAfterMs)))
  addLimitHeaders(answer.headers, decision)
  return answer
}

/** The names and the form that callers of OpenAI know. */
export function addLimitHeaders(headers: Headers, { limit, remaining, resetMs }: Decision): void {
  headers.set('x-ratelimit-limit-requests', String(limit))
  headers.set('x-ratelimit-remaining-requests', String(remaining))
  headers.set('x-ratelimit-reset-requests', `${wholeSeconds(resetMs)}s`)
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000))
}
