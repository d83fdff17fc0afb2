import {
  type AccountId,
  KEY_PREFIX,
  type KeyId,
  type ListedKey as ListedKeySchema,
  type ledger,
  PublicError,
  type ReplyOf,
  type UserId,
  type WireOf,
} from '@tollgate/contracts'
import type { Cap } from './cap.ts'

export type ListedKey = WireOf<typeof ListedKeySchema>
export type Spend = ReplyOf<typeof ledger.keySpend>['keys'][number]

/** A key as the database knows it; times are ms epoch. */
export interface Key {
  id: KeyId
  user: UserId
  account: AccountId
  name: string
  last4: string
  models: string[] | null
  createdAt: number
  lastUsedAt: number | null
  expiresAt: number | null
}

export const DEFAULT_NAME = 'default'
/** A slip of units is far from now: seconds are in the past, microseconds beyond this. */
const EXPIRY_AHEAD_MAX_MS = 10 * 365 * 86_400_000

/** Control characters, line breaks and half characters: not a label, and the last can't be stored. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029]/u

/** Throws `bad_request` for a name that nobody could read in a list. */
export function checkedName(name: string): string {
  if (name.trim() === '' || unprintable.test(name)) {
    throw new PublicError('bad_request', 'name must be a readable label of 1 to 100 characters')
  }
  return name
}

/** Throws `bad_request` for an end that has passed or is implausibly far. */
export function checkedExpiry(expiresAt: number | null, nowMs: number): number | null {
  if (expiresAt === null) return null
  if (expiresAt <= nowMs) throw new PublicError('bad_request', 'expiresAt must lie in the future (ms epoch)')
  if (expiresAt > nowMs + EXPIRY_AHEAD_MAX_MS) {
    throw new PublicError('bad_request', 'expiresAt must lie within ten years (ms epoch)')
  }
  return expiresAt
}

/** Each model once; null for all. Throws `bad_request` for a list that allows nothing or names what no model is called. */
export function checkedModels(models: string[] | null): string[] | null {
  if (models === null) return null
  if (models.length === 0) throw new PublicError('bad_request', 'models must name a model; null allows all')
  if (models.some(model => !/^[\x21-\x7e]+$/.test(model))) {
    throw new PublicError('bad_request', 'models must be model ids, as GET /v1/models lists them')
  }
  return [...new Set(models)]
}

/** Whether a key may do less than its account: then it must not make, change or renew keys, or it could free itself. */
export function isLimited(key: Pick<Key, 'models' | 'expiresAt'>, cap: Pick<Cap, 'capMicro'>): boolean {
  return key.models !== null || key.expiresAt !== null || cap.capMicro !== null
}

/** A key as its owner sees it (interface.md, "Key (as listed)"). */
export function listed(key: Key, spend: Spend | undefined): ListedKey {
  const { id, name, last4, createdAt, lastUsedAt, expiresAt, models } = key
  return {
    id,
    name,
    prefix: KEY_PREFIX,
    last4,
    createdAt,
    lastUsedAt: lastUsedAt ?? 0,
    expiresAt,
    models,
    spendCapMicro: spend?.capMicro == null ? null : Number(spend.capMicro),
    spendWindow: spend?.window ?? 'none',
    spentMicro: Number(spend?.spentMicro ?? 0n),
    windowResetsAt: spend?.resetsAt ?? null,
  }
}
