import { createHash } from 'node:crypto'
import { type Bus, BusFault } from '@tollgate/bus'
import {
  type AccountId,
  type KeyId,
  keyChanged,
  PublicError,
  type ReplyOf,
  resolveKey,
  resolveSession,
  type SessionId,
  sessionEnded,
  type UserId,
} from '@tollgate/contracts'
import { Cache } from './cache.ts'
import type { Credential } from './credential.ts'

/** Who calls, by a key or by a session. */
export interface Caller {
  readonly account: AccountId
  readonly user: UserId
  readonly key: KeyId | null
  readonly session: SessionId | null
  readonly models: readonly string[] | null
  /** When the credential ends, ms since the epoch; null for never. */
  readonly expiresAt: number | null
  /** The user in the subjects of rate limits. */
  readonly limitToken: string
}

export interface Callers {
  /** The caller of a credential; null when nobody knows it. Throws 503 when that can't be found out now. */
  resolve(credential: Credential): Promise<Caller | null> | Caller | null
  /** A change went through this router: what is known of the key, or of the user's sessions, is asked anew. */
  forgetKey(key: string): void
  forgetSessionsOf(user: UserId): void
  /** Pushes may have been missed. */
  forgetAll(): void
}

/** A revocation is pushed; where the push is lost, this is how long it takes (DESIGN, "Walk 1", 1). */
const KNOWN_TTL_MS = 5_000
/** A key that nobody knew may have been made just now. */
const UNKNOWN_TTL_MS = 1_000
const ENTRIES_MAX = 10_000
/** Look-ups under way; more means that they arrive faster than they are answered. */
const LOOKUPS_MAX = 2_000
const LOOKUP = { deadlineMs: 2_000, attemptMs: 500 } as const

/** Looks credentials up on the bus and remembers the answers for a moment. */
export function createCallers(bus: Bus, nowMs: () => number = Date.now): Callers {
  const ttlMs = (caller: Caller | null) =>
    caller ? Math.min(KNOWN_TTL_MS, (caller.expiresAt ?? Infinity) - nowMs()) : UNKNOWN_TTL_MS
  const keys = new Cache<Caller | null>({ entriesMax: ENTRIES_MAX, ttlMs })
  const sessions = new Cache<Caller | null>({ entriesMax: ENTRIES_MAX, ttlMs })

  bus.listen(keyChanged.subject, keyChanged.payload, ({ keyHash }) => keys.forget(keyHash))
  bus.listen(sessionEnded.subject, sessionEnded.payload, ({ sessionHash }) => sessions.forget(sessionHash))

  const ask = {
    key: async (keyHash: string) => callerOfKey(await bus.call(resolveKey, { keyHash }, LOOKUP)),
    session: async (sessionHash: string) => callerOfSession(await bus.call(resolveSession, { sessionHash }, LOOKUP)),
  }

  async function lookUp(kind: 'key' | 'session', hash: string): Promise<Caller | null> {
    const cache = kind === 'key' ? keys : sessions
    if (cache.loading >= LOOKUPS_MAX) throw unavailable()
    try {
      return unlessExpired(await cache.load(hash, () => ask[kind](hash)))
    } catch (cause) {
      if (cause instanceof BusFault) throw unavailable(cause)
      throw cause
    }
  }

  /** The cache lets go of a caller when his credential ends; this is for one that had ended already. */
  function unlessExpired(caller: Caller | null): Caller | null {
    return caller && (caller.expiresAt ?? Infinity) > nowMs() ? caller : null
  }

  return {
    resolve(credential) {
      if (credential.kind !== 'key' && credential.kind !== 'session') return null
      const known = (credential.kind === 'key' ? keys : sessions).peek(credential.hash)
      return known === undefined ? lookUp(credential.kind, credential.hash) : known
    },
    forgetKey: key => keys.forgetWhere(caller => caller?.key === key),
    forgetSessionsOf: user => sessions.forgetWhere(caller => caller?.user === user),
    forgetAll() {
      keys.clear()
      sessions.clear()
    },
  }
}

/** What limits count together, as a token that fits a NATS subject: spaces and dots in one would hang or widen it. */
export function limitTokenOf(kind: 'user' | 'ip', name: string): string {
  return createHash('sha256').update(`${kind}:${name}`).digest('base64url').slice(0, LIMIT_TOKEN_CHARS)
}
/** 132 bits: no two callers share a window by chance. */
const LIMIT_TOKEN_CHARS = 22

function callerOfKey(reply: ReplyOf<typeof resolveKey>): Caller | null {
  if (reply.status !== 'active') return null
  const { account, user, key, models, expiresAt } = reply
  return { account, user, key, session: null, models, expiresAt, limitToken: limitTokenOf('user', user) }
}

function callerOfSession(reply: ReplyOf<typeof resolveSession>): Caller | null {
  if (reply.status !== 'active') return null
  const { account, user, session, expiresAt } = reply
  return { account, user, key: null, session, models: null, expiresAt, limitToken: limitTokenOf('user', user) }
}

function unavailable(cause?: unknown): PublicError {
  return new PublicError('service_unavailable', 'credentials can’t be checked right now; try again', {
    retryAfterSeconds: 1,
    cause,
  })
}
