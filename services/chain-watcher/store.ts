import { Value } from '@sinclair/typebox/value'
import { Payment } from '@tollgate/contracts'
import type { Database } from '@tollgate/db'
import { and, asc, eq, inArray, isNotNull, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Commitment, Listed } from './chain.ts'
import type { SeenPayment } from './payment.ts'
import { scanCursor, sighting } from './schema.ts'

/** A chain and the account that is watched on it. */
export interface Watched {
  genesisHash: string
  tokenAccount: string
}

/** A fact that was not told to others yet. */
export type Untold =
  | { signature: string; kind: 'payment'; payment: SeenPayment }
  | { signature: string; kind: 'vanished' }

export type Store = ReturnType<typeof createStore>

/** All that the service keeps. Each call is one statement, and may be repeated. */
export function createStore(database: Database) {
  const inMs = (delayMs: number) => sql`now() + ${delayMs} * interval '1 millisecond'`
  /** Said again when there is something new to say. */
  const unlessSame = sql`case when ${sighting.payment} = excluded.payment then ${sighting.announced} end`
  /** A payment that is not final, or whose block time no node knew yet. */
  const unfinished = sql`(${sighting.commitment} = 'confirmed' or ${sighting.payment} ->> 'blockTimeMs' is null)`
  const due = lte(sighting.dueAt, sql`now()`)

  return {
    /** The slot up to which everything was listed; null before the first complete look. */
    async cursor({ genesisHash, tokenAccount }: Watched): Promise<number | null> {
      const [row] = await database.run(db =>
        db
          .select({ slot: scanCursor.slot })
          .from(scanCursor)
          .where(and(eq(scanCursor.genesisHash, genesisHash), eq(scanCursor.tokenAccount, tokenAccount))),
      )
      return row?.slot ?? null
    },

    /** Forward only: a replica, or a node that lags, may be behind. */
    async moveCursor(watched: Watched, slot: number): Promise<void> {
      await database.run(db =>
        db
          .insert(scanCursor)
          .values({ ...watched, slot })
          .onConflictDoUpdate({
            target: [scanCursor.genesisHash, scanCursor.tokenAccount],
            set: { slot, movedAt: sql`now()` },
            setWhere: sql`${scanCursor.slot} < excluded.slot`,
          }),
      )
    },

    /** Notes what a node listed. What had vanished and is listed again is read again. */
    async list(watched: Watched, listed: readonly Pick<Listed, 'signature' | 'slot'>[]): Promise<void> {
      if (listed.length === 0) return
      const rows = listed.map(({ signature, slot }) => ({ ...watched, signature, slot }))
      await database.run(db =>
        db
          .insert(sighting)
          .values(rows)
          .onConflictDoUpdate({
            target: sighting.signature,
            set: { state: 'listed', slot: sql`excluded.slot`, attempts: 0, dueAt: sql`now()`, announced: null },
            setWhere: eq(sighting.state, 'vanished'),
          }),
      )
    },

    /** Signatures to read now, oldest first. */
    unread: (limit: number) =>
      database.run(db =>
        db
          .select({ signature: sighting.signature, attempts: sighting.attempts })
          .from(sighting)
          .where(and(inArray(sighting.state, ['listed', 'parked']), due))
          .orderBy(asc(sighting.slot))
          .limit(limit),
      ),

    /** Payments that are to be looked at again now: not final, or without a block time. */
    unfinal: (limit: number) =>
      database.run(db =>
        db
          .select({ signature: sighting.signature, attempts: sighting.attempts })
          .from(sighting)
          .where(and(eq(sighting.state, 'payment'), unfinished, due))
          .orderBy(asc(sighting.dueAt))
          .limit(limit),
      ),

    /** The transaction was read. `null`: it paid us nothing. Never turns a finished payment back. */
    async read(watched: Watched, signature: string, payment: SeenPayment | null, recheckMs: number): Promise<void> {
      const row = {
        state: payment ? ('payment' as const) : ('nothing' as const),
        slot: payment?.slot ?? 0,
        commitment: payment?.commitment ?? null,
        payment: payment ? Value.Encode(Payment, payment) : null,
        attempts: 0,
        note: null,
        dueAt: inMs(recheckMs),
      }
      const { slot, ...rest } = row
      await database.run(db =>
        db
          .insert(sighting)
          .values({ ...watched, signature, ...row })
          .onConflictDoUpdate({
            target: sighting.signature,
            set: payment ? { ...rest, slot, announced: unlessSame } : rest,
            setWhere: sql`${sighting.state} <> 'payment' or ${unfinished}`,
          }),
      )
    },

    /** It could not be read: try again after a while. */
    async retry(signature: string, state: 'listed' | 'parked', delayMs: number, note: string): Promise<void> {
      await database.run(db =>
        db
          .update(sighting)
          .set({ state, note, attempts: sql`${sighting.attempts} + 1`, dueAt: inMs(delayMs) })
          .where(and(eq(sighting.signature, signature), inArray(sighting.state, ['listed', 'parked']))),
      )
    },

    /** It is not final yet: look again after a while. `missing` counts the looks that did not find it at all. */
    async lookAgain(signatures: readonly string[], missing: boolean, delayMs: number): Promise<void> {
      if (signatures.length === 0) return
      await database.run(db =>
        db
          .update(sighting)
          .set({ attempts: missing ? sql`${sighting.attempts} + 1` : 0, dueAt: inMs(delayMs) })
          .where(inArray(sighting.signature, [...signatures])),
      )
    },

    async vanished(signature: string): Promise<void> {
      await database.run(db =>
        db
          .update(sighting)
          .set({ state: 'vanished', note: 'no longer on the chain' })
          .where(and(eq(sighting.signature, signature), eq(sighting.commitment, 'confirmed'))),
      )
    },

    /** What others have not been told, oldest first. */
    async untold(limit: number): Promise<Untold[]> {
      const rows = await database.run(db =>
        db
          .select({ signature: sighting.signature, state: sighting.state, payment: sighting.payment })
          .from(sighting)
          .where(
            or(
              and(eq(sighting.state, 'payment'), sql`${sighting.announced} is distinct from ${sighting.commitment}`),
              and(eq(sighting.state, 'vanished'), sql`${sighting.announced} is distinct from 'vanished'`),
            ),
          )
          .orderBy(asc(sighting.seenAt))
          .limit(limit),
      )
      return rows.map(({ signature, state, payment }) =>
        state === 'vanished'
          ? { signature, kind: 'vanished' }
          : { signature, kind: 'payment', payment: Value.Decode(Payment, payment) },
      )
    },

    async told(signature: string, announced: Commitment | 'vanished'): Promise<void> {
      await database.run(db => db.update(sighting).set({ announced }).where(eq(sighting.signature, signature)))
    },

    bySignature: (signature: string) => payments(eq(sighting.signature, signature)),
    byReference: (reference: string) =>
      payments(sql`${sighting.payment} @> ${JSON.stringify({ legs: [{ references: [reference] }] })}::jsonb`),

    /** How many transactions were listed, and could not be read yet. */
    async parked(): Promise<number> {
      const [row] = await database.query<{ count: bigint }>(
        "select count(*) as count from chain_watcher.sighting where state = 'parked'",
        [],
      )
      return Number(row?.count ?? 0)
    },

    reachable: () => database.query('select 1', []).then(() => true),
  }

  async function payments(which: SQL): Promise<SeenPayment[]> {
    const rows = await database.run(db =>
      db
        .select({ payment: sighting.payment })
        .from(sighting)
        .where(and(eq(sighting.state, 'payment'), isNotNull(sighting.payment), which))
        .orderBy(asc(sighting.slot)),
    )
    return rows.map(({ payment }) => Value.Decode(Payment, payment))
  }
}
