/** How an endpoint fares: troubles in a row, and until when it is left alone (monotonic ms). */
export interface Backoff {
  failures: number
  until: number
}

export const HEALTHY: Backoff = { failures: 0, until: 0 }

const FIRST_MS = 250
const MOST_MS = 3_000
const DOUBLINGS_MAX = 4

/**
 * The next back-off: doubling, with jitter (`random` in [0, 1)) so that replicas don't return together, and never
 * shorter than what the endpoint asked for.
 */
export function backOff(before: Backoff, now: number, retryAfterMs: number | null, random: number): Backoff {
  const doubled = Math.min(FIRST_MS * 2 ** Math.min(before.failures, DOUBLINGS_MAX), MOST_MS)
  const jittered = doubled * (0.5 + random / 2)
  return { failures: before.failures + 1, until: now + Math.max(jittered, retryAfterMs ?? 0) }
}
