import { type AccountId, type KeyId, MAX_ACTIVE_KEYS, type UserId } from '@tollgate/contracts'
import type { Database } from '@tollgate/db'
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import type { Key } from './key.ts'
import { keys, secrets } from './schema.ts'

export type NewKey = Omit<Key, 'createdAt' | 'lastUsedAt'> & { hash: string }

/** What a bearer of a secret is. */
export interface Bearer {
  hash: string
  key: KeyId
  account: AccountId
  user: UserId
  models: string[] | null
  expiresAt: number | null
}

export type RollOutcome = { status: 'unknown' } | { status: 'crowded' } | { status: 'rolled'; formerHashes: string[] }

export interface Roll {
  id: KeyId
  user: UserId
  hash: string
  last4: string
  graceSeconds: number
}

export type Store = ReturnType<typeof openStore>

/** Live secrets of one key: it may be rolled this often within a grace, and no more. */
const MAX_LIVE_SECRETS = 5

/** Every statement of the service. Times are Postgres's. */
export function openStore(db: Database) {
  return {
    ready: async () => (await db.query('select 1', [])).length === 1,

    /** When the key was created; null when its user has `MAX_ACTIVE_KEYS` already. */
    async createKey(key: NewKey): Promise<number | null> {
      const [row] = await db.query<{ at: bigint | null }>(CREATE_KEY, [
        key.id,
        key.user,
        key.account,
        key.name,
        key.last4,
        key.hash,
        key.models && textArray(key.models),
        key.expiresAt,
        MAX_ACTIVE_KEYS,
      ])
      return row?.at == null ? null : Number(row.at)
    },

    /** The user's keys that are not revoked, newest first. */
    async listKeys(user: UserId): Promise<Key[]> {
      const rows = await db.run(orm =>
        orm
          .select()
          .from(keys)
          .where(and(eq(keys.userId, user), isNull(keys.revokedAt)))
          .orderBy(desc(keys.createdAt), desc(keys.id)),
      )
      return rows.map(keyOf)
    },

    async findKey(user: UserId, id: KeyId): Promise<Key | null> {
      const [row] = await db.run(orm => orm.select().from(keys).where(activeKey(user, id)))
      return row ? keyOf(row) : null
    },

    async changeKey(user: UserId, id: KeyId, change: Partial<Pick<Key, 'name' | 'models' | 'expiresAt'>>) {
      const { name, models, expiresAt } = change
      const set = {
        // A statement that sets nothing is none; the same name is.
        name: name ?? sql`${keys.name}`,
        ...(models !== undefined && { models }),
        ...(expiresAt !== undefined && { expiresAt: expiresAt === null ? null : new Date(expiresAt) }),
      }
      const [row] = await db.run(orm => orm.update(keys).set(set).where(activeKey(user, id)).returning())
      return row ? keyOf(row) : null
    },

    /** Revokes the user's key; one that is revoked already stays as it was. Null when the user has no such key. */
    async revokeKey(user: UserId, id: KeyId): Promise<{ account: AccountId } | null> {
      const [row] = await db.run(orm =>
        orm
          .update(keys)
          .set({ revokedAt: sql`coalesce(${keys.revokedAt}, now())` })
          .where(and(eq(keys.userId, user), eq(keys.id, id)))
          .returning({ account: keys.accountId }),
      )
      return row ? { account: row.account as AccountId } : null // an id that `createKey` wrote
    },

    async rollKey({ id, user, hash, last4, graceSeconds }: Roll): Promise<RollOutcome> {
      const [row] = await db.query<{ outcome: 'unknown' | 'crowded' | 'rolled'; former: string[] | null }>(
        `select outcome, former from keys.roll_key($1, $2, $3, $4, $5 * interval '1 second', $6)`,
        [id, user, hash, last4, graceSeconds, MAX_LIVE_SECRETS],
      )
      if (!row) throw new Error('a roll had no outcome')
      return row.outcome === 'rolled' ? { status: 'rolled', formerHashes: row.former ?? [] } : { status: row.outcome }
    },

    async hashesOf(key: KeyId): Promise<string[]> {
      const rows = await db.run(orm => orm.select({ hash: secrets.hash }).from(secrets).where(eq(secrets.keyId, key)))
      return rows.map(row => row.hash)
    },

    /** Who bears each of these secrets; nobody for what is unknown, revoked or expired. */
    async resolveKeys(hashes: readonly string[]): Promise<Bearer[]> {
      const rows = await db.query<Omit<Bearer, 'expiresAt'> & { expires_at: bigint | null }>(RESOLVE, [
        textArray(hashes),
      ])
      return rows.map(({ expires_at, ...bearer }) => ({
        ...bearer,
        expiresAt: expires_at === null ? null : Number(expires_at),
      }))
    },

    async markUsed(used: ReadonlyMap<KeyId, number>): Promise<void> {
      await db.query(MARK_USED, [textArray([...used.keys()]), `{${[...used.values()].join(',')}}`])
    },
  }
}

const activeKey = (user: UserId, id: KeyId) => and(eq(keys.userId, user), eq(keys.id, id), isNull(keys.revokedAt))

function keyOf(row: typeof keys.$inferSelect): Key {
  return {
    id: row.id as KeyId, // ids were written by `createKey`, so they have their prefixes
    user: row.userId as UserId,
    account: row.accountId as AccountId,
    name: row.name,
    last4: row.last4,
    models: row.models,
    createdAt: row.createdAt.getTime(),
    lastUsedAt: row.lastUsedAt?.getTime() ?? null,
    expiresAt: row.expiresAt?.getTime() ?? null,
  }
}

/** A Postgres array literal: one value for one parameter, however many texts. */
function textArray(texts: readonly string[]): string {
  return `{${texts.map(text => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

const CREATE_KEY = `
  select floor(extract(epoch from keys.create_key($1, $2, $3, $4, $5, $6, $7::text[],
    to_timestamp($8::float8 / 1000), $9)) * 1000)::int8 as at`

const RESOLVE = `
  select s.hash, k.id as key, k.account_id as account, k.user_id as user, k.models,
    floor(extract(epoch from least(k.expires_at, s.ends_at)) * 1000)::int8 as expires_at
  from keys.secret s join keys.key k on k.id = s.key_id
  where s.hash = any ($1::text[]) and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now()) and (s.ends_at is null or s.ends_at > now())`

/** Rows are locked in the order of their ids, so that two replicas never wait for each other. No time moves back or ahead of now. */
const MARK_USED = `
  with used as (
    select k.id, least(u.at, now()) as at
    from unnest($1::text[], $2::int8[]) as reported (id, ms)
      cross join lateral (select to_timestamp(reported.ms / 1000.0) as at) u
      join keys.key k on k.id = reported.id
    order by k.id for no key update of k
  )
  update keys.key set last_used_at = greatest(last_used_at, used.at) from used where key.id = used.id`
