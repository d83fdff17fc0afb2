/** A sliding-window limit: at most `count` calls in any `windowMs`. */
export interface Limit {
  readonly count: number
  readonly windowMs: number
  /** Whose calls are counted together. */
  readonly per: 'user' | 'ip'
  /** What a router does when JetStream can't answer: paid calls go on for a bounded time, sign-in does not. */
  readonly whenUnknown: 'allow' | 'refuse'
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** The limits of interface.md, "Limits". Configuration may raise them (`LIMITS`); a test holds these against the table. */
export const defaultLimits = {
  chat: { count: 60, windowMs: MINUTE_MS, per: 'user', whenUnknown: 'allow' },
  nonce: { count: 30, windowMs: MINUTE_MS, per: 'ip', whenUnknown: 'refuse' },
  keys: { count: 10, windowMs: HOUR_MS, per: 'user', whenUnknown: 'allow' },
  topup: { count: 10, windowMs: MINUTE_MS, per: 'user', whenUnknown: 'allow' },
  verify: { count: 20, windowMs: MINUTE_MS, per: 'user', whenUnknown: 'allow' },
} as const satisfies Record<string, Limit>

export type LimitName = keyof typeof defaultLimits

/** The JetStream stream that holds a limit's places, and the subject under which a caller takes one. */
export function limitStream(name: LimitName): string {
  return `LIMIT_${name.toUpperCase()}`
}
export function limitSubject(name: LimitName, callerToken: string): string {
  return `limit.${name}.${callerToken}`
}
