import { type AccountId, newId, type SessionId, type UserId } from '@tollgate/contracts'
import type { Database } from '@tollgate/db'
import { and, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { sessions, users } from './schema.ts'
import { MAX_SESSIONS, SESSION_IDLE_MS, SESSION_LIFE_MS, SLIDE_EVERY_MS } from './session.ts'

export interface KnownUser {
  id: UserId
  account: AccountId
  wallet: string
}

export interface LiveSession {
  session: SessionId
  user: UserId
  account: AccountId
  expiresAt: number
}

/** A session that has just ended: what routers must be told. */
export interface EndedSession {
  id: SessionId
  secretHash: string
}

export type Store = ReturnType<typeof openStore>

/** What ended this recently is announced once more when ending is repeated: the first announcement may have failed. */
const ANNOUNCE_AGAIN = sql`now() - interval '10 minutes'`

/** Every statement of the service. Times are Postgres's. */
export function openStore(db: Database) {
  async function findUser(wallet: string): Promise<KnownUser | null> {
    const [user] = await db.run(orm =>
      orm.select({ id: users.id, account: users.accountId }).from(users).where(eq(users.wallet, wallet)),
    )
    // Ids were written by `ensureUser`, so they have their prefixes.
    return user ? { id: user.id as UserId, account: user.account as AccountId, wallet } : null
  }

  return {
    ready: async () => (await db.query('select 1', [])).length === 1,

    /** The wallet's user, made with its account on the first sign-in. Of any number of parallel first sign-ins one makes it. */
    async ensureUser(wallet: string): Promise<KnownUser> {
      const known = await findUser(wallet)
      if (known) return known
      await db.query(MAKE_USER, [newId('user'), wallet, newId('account')])
      const made = await findUser(wallet)
      if (!made) throw new Error('a user was neither found nor made')
      return made
    },

    async userOf(account: AccountId): Promise<KnownUser | null> {
      const [user] = await db.run(orm =>
        orm.select({ id: users.id, wallet: users.wallet }).from(users).where(eq(users.accountId, account)),
      )
      return user ? { id: user.id as UserId, wallet: user.wallet, account } : null
    },

    /** Opens a session, and ends those that the user has beyond `MAX_SESSIONS`. */
    async openSession(user: UserId, secretHash: string): Promise<EndedSession[]> {
      const rows = await db.query<{ id: SessionId; secret_hash: string }>(OPEN_SESSION, [
        newId('session'),
        user,
        secretHash,
        SESSION_IDLE_MS,
        SESSION_LIFE_MS,
        MAX_SESSIONS - 1,
      ])
      return rows.map(row => ({ id: row.id, secretHash: row.secret_hash }))
    },

    /** Whose session this is; a use moves its end. */
    async useSession(secretHash: string): Promise<LiveSession | null> {
      const [row] = await db.query<{ id: SessionId; user_id: UserId; account_id: AccountId; expires_at: bigint }>(
        USE_SESSION,
        [secretHash, SESSION_IDLE_MS, SLIDE_EVERY_MS],
      )
      return row
        ? { session: row.id, user: row.user_id, account: row.account_id, expiresAt: Number(row.expires_at) }
        : null
    },

    listSessions: (user: UserId) =>
      db.run(orm =>
        orm
          .select()
          .from(sessions)
          .where(and(eq(sessions.userId, user), isNull(sessions.endedAt), gt(sessions.expiresAt, sql`now()`)))
          .orderBy(desc(sessions.lastUsedAt))
          .limit(2 * MAX_SESSIONS),
      ),

    /** Ends one session of the user; one that has ended already is told again. Null when the user has no such session. */
    async endSession(user: UserId, id: SessionId): Promise<EndedSession | null> {
      const [ended] = await endWhere(db, and(eq(sessions.userId, user), eq(sessions.id, id)))
      return ended ?? null
    },

    endSessions: (user: UserId) =>
      endWhere(db, and(eq(sessions.userId, user), or(isNull(sessions.endedAt), gt(sessions.endedAt, ANNOUNCE_AGAIN)))),
  }
}

async function endWhere(db: Database, which: ReturnType<typeof and>): Promise<EndedSession[]> {
  const rows = await db.run(orm =>
    orm
      .update(sessions)
      .set({ endedAt: sql`coalesce(${sessions.endedAt}, now())` })
      .where(which)
      .returning({ id: sessions.id, secretHash: sessions.secretHash }),
  )
  return rows.map(row => ({ id: row.id as SessionId, secretHash: row.secretHash })) // ids from `openSession`
}

/** Nothing when the user is there already. The key that ties user and account is checked at the statement's end. */
const MAKE_USER = `
  with fresh as (
    insert into auth.users (id, wallet, account_id) values ($1, $2, $3) on conflict (wallet) do nothing
    returning account_id
  )
  insert into auth.accounts (id) select account_id from fresh`

const OPEN_SESSION = `
  with gone as (
    delete from auth.sessions where user_id = $2 and expires_at <= now()
  ), crowded as (
    update auth.sessions set ended_at = now() where id in (
      select id from auth.sessions where user_id = $2 and ended_at is null and expires_at > now()
      order by last_used_at desc offset $6)
    returning id, secret_hash
  ), fresh as (
    insert into auth.sessions (id, user_id, secret_hash, expires_at, ends_at)
    values ($1, $2, $3, now() + $4 * interval '1 millisecond', now() + $5 * interval '1 millisecond')
  )
  select id, secret_hash from crowded`

const USE_SESSION = `
  with slid as (
    update auth.sessions set last_used_at = now(), expires_at = least(now() + $2 * interval '1 millisecond', ends_at)
    where secret_hash = $1 and ended_at is null and expires_at > now()
      and last_used_at <= now() - $3 * interval '1 millisecond'
    returning expires_at
  )
  select s.id, s.user_id, u.account_id,
    floor(extract(epoch from coalesce(slid.expires_at, s.expires_at)) * 1000)::int8 as expires_at
  from auth.sessions s join auth.users u on u.id = s.user_id left join slid on true
  where s.secret_hash = $1 and s.ended_at is null and s.expires_at > now()`
