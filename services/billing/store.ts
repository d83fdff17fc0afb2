import type { AccountId } from '@tollgate/contracts'
import type { Database } from '@tollgate/db'
import { and, asc, desc, eq, inArray, isNull, lt, ne, or, sql } from 'drizzle-orm'
import type { IntentAccount } from './history.ts'
import type { Asked, Attribution, Claim, PaymentState, Received, SeenPayment } from './matching.ts'
import { intent, payment, settlement } from './schema.ts'

export type IntentRow = typeof intent.$inferSelect
export type PaymentRow = typeof payment.$inferSelect
export type SettlementRow = typeof settlement.$inferSelect
export type NewIntent = Omit<IntentRow, 'createdAt' | 'expiresAt'>

export type Store = ReturnType<typeof createStore>

/** All that billing keeps of top-ups. Each call is one statement, and may be repeated. */
export function createStore(database: Database) {
  return {
    /** Stores a quote, unless the account has `openMax` unpaid ones already: then null. */
    async insertIntent(row: NewIntent, ttlMs: number, openMax: number): Promise<{ expiresAtMs: number } | null> {
      const [stored] = await database.query<{ expires_ms: bigint }>(
        `with moment as (select date_trunc('milliseconds', now()) as at)
         insert into intent (id, reference, account, usd_micro, token_raw, decimals, mint, treasury, network,
           price_scaled, price_sources, blockhash, last_valid_block_height, created_at, expires_at)
         select $1, $2, $3, $4::bigint, $5::numeric, $6::integer, $7, $8, $9,
           $10::numeric, $11::jsonb, $12, $13::bigint, at, at + $14::integer * interval '1 millisecond'
         from moment
         where (select count(*) from intent open
                where open.account = $3 and open.expires_at > now()
                  and not exists (select from settlement where settlement.intent = open.id)) < $15::integer
         returning (extract(epoch from expires_at) * 1000)::bigint as expires_ms`,
        [
          row.id,
          row.reference,
          row.account,
          row.usdMicro.toString(),
          row.tokenRaw.toString(),
          row.decimals,
          row.mint,
          row.treasury,
          row.network,
          row.priceScaled.toString(),
          JSON.stringify(row.priceSources),
          row.blockhash,
          row.lastValidBlockHeight,
          ttlMs,
          openMax,
        ],
      )
      return stored ? { expiresAtMs: Number(stored.expires_ms) } : null
    },

    async intent(reference: string): Promise<{ intent: IntentRow; settlement: SettlementRow | null } | null> {
      const [row] = await database.run(db =>
        db
          .select()
          .from(intent)
          .leftJoin(settlement, eq(settlement.intent, intent.id))
          .where(eq(intent.reference, reference)),
      )
      return row ?? null
    },

    /** The intents that a payment may be for. */
    async named({ legs, network, mint, treasury }: SeenPayment): Promise<Asked[]> {
      const references = [...new Set(legs.flatMap(leg => leg.references))]
      if (references.length === 0) return []
      const rows = await database.run(db =>
        db
          .select()
          .from(intent)
          .where(
            and(
              inArray(intent.reference, references),
              eq(intent.network, network),
              eq(intent.mint, mint),
              eq(intent.treasury, treasury),
            ),
          ),
      )
      return rows.map(askedOf)
    },

    /**
     * Notes a payment, or what is newly known of it. What vanished comes back when it lands later or is final: any other
     * fact is one of before, delivered again.
     */
    async record(seen: SeenPayment, attribution: Attribution): Promise<void> {
      const { signature, network, mint, treasury, slot, deltaRaw, settled, commitment } = seen
      const blockTime = seen.blockTimeMs === null ? null : new Date(seen.blockTimeMs)
      const legs = seen.legs.map(leg => ({ ...leg, amountRaw: leg.amountRaw.toString() }))
      const target = attribution.intent
        ? { intent: attribution.intent.id, attributedRaw: attribution.attributedRaw, state: 'received' as const }
        : { intent: null, attributedRaw: 0n, state: attribution.state }
      await database.run(db =>
        db
          .insert(payment)
          .values({ signature, network, mint, treasury, slot, blockTime, deltaRaw, legs, settled, ...target })
          .onConflictDoUpdate({
            target: payment.signature,
            set: {
              slot,
              blockTime: sql`coalesce(excluded.block_time, ${payment.blockTime})`,
              settled: sql`${payment.settled} or excluded.settled`,
              state: sql`case when ${payment.state} = 'vanished' then excluded.state else ${payment.state} end`,
            },
            setWhere: sql`${payment.state} <> 'vanished' or excluded.slot > ${payment.slot} or ${commitment} = 'finalized'`,
          }),
      )
    },

    /** A payment is not on the chain any more. What it was credited for stays credited: the answer tells. */
    async vanish(signature: string): Promise<PaymentRow | null> {
      const [row] = await database.run(db =>
        db
          .update(payment)
          .set({
            settled: false,
            state: sql`case when ${payment.state} = 'credited' then 'credited' else 'vanished' end`,
          })
          .where(eq(payment.signature, signature))
          .returning(),
      )
      return row ?? null
    },

    /** An intent with all that was paid for it. */
    async account(intentId: string): Promise<IntentAccount | null> {
      const [[found], payments] = await Promise.all([
        database.run(db =>
          db
            .select()
            .from(intent)
            .leftJoin(settlement, eq(settlement.intent, intent.id))
            .where(eq(intent.id, intentId)),
        ),
        database.run(db => db.select().from(payment).where(eq(payment.intent, intentId)).orderBy(asc(payment.slot))),
      ])
      return found ? { ...found, payments } : null
    },

    /** An account's intents, newest first, from the one after `before` (a reference) on. */
    async intents(account: AccountId, before: string | null, limit: number): Promise<IntentAccount[]> {
      const from =
        before === null
          ? undefined
          : sql`(${intent.createdAt}, ${intent.id}) < (
        select last.created_at, last.id from ${intent} last where last.reference = ${before} and last.account = ${account})`
      const found = await database.run(db =>
        db
          .select()
          .from(intent)
          .leftJoin(settlement, eq(settlement.intent, intent.id))
          .where(and(eq(intent.account, account), from))
          .orderBy(desc(intent.createdAt), desc(intent.id))
          .limit(limit),
      )
      const ids = found.map(row => row.intent.id)
      if (ids.length === 0) return []
      const payments = await database.run(db =>
        db.select().from(payment).where(inArray(payment.intent, ids)).orderBy(asc(payment.slot)),
      )
      return found.map(row => ({ ...row, payments: payments.filter(paid => paid.intent === row.intent.id) }))
    },

    /**
     * The claim on an intent. One wins, and its row says what is credited. Payments that an operator resolved or that
     * vanished meanwhile can't be claimed: all of them lock the payment's row, so one comes first.
     */
    async claim(intentId: string, { signature, signatures, receivedRaw, amountMicro }: Claim): Promise<void> {
      const claimed = `{${signatures.join(',')}}`
      await database.query(
        `with free as (
           select from payment
           where signature = any($1::text[]) and resolved_at is null and settled and state <> 'vanished'
           for update
         )
         insert into settlement (intent, signature, signatures, received_raw, amount_micro)
         select $2, $3, $1::text[], $4::numeric, $5::bigint
         where (select count(*) from free) = cardinality($1::text[])
         on conflict do nothing`,
        [claimed, intentId, signature, receivedRaw.toString(), amountMicro.toString()],
      )
    },

    /** Notes what payments amount to. Once credited, a payment stays so. */
    async mark(states: ReadonlyMap<string, PaymentState>): Promise<void> {
      for (const [signature, state] of states) {
        await database.run(db =>
          db
            .update(payment)
            .set({ state })
            .where(and(eq(payment.signature, signature), ne(payment.state, state), ne(payment.state, 'credited'))),
        )
      }
    },

    credited: (intentId: string) => stamp(intentId, { creditedAt: sql`coalesce(${settlement.creditedAt}, now())` }),
    published: (intentId: string) => stamp(intentId, { publishedAt: sql`coalesce(${settlement.publishedAt}, now())` }),

    /** The one answer 200 for an intent: true for whoever comes first. */
    async claimAnswer(intentId: string): Promise<boolean> {
      const rows = await database.run(db =>
        db
          .update(settlement)
          .set({ verifiedAt: sql`now()` })
          .where(and(eq(settlement.intent, intentId), isNull(settlement.verifiedAt)))
          .returning({ intent: settlement.intent }),
      )
      return rows.length > 0
    },

    /** Whether a signature was credited, and for which intent. */
    async creditedFor(signature: string): Promise<string | null> {
      const [row] = await database.run(db =>
        db
          .select({ intent: payment.intent })
          .from(payment)
          .where(and(eq(payment.signature, signature), eq(payment.state, 'credited'))),
      )
      return row?.intent ?? null
    },

    /** Intents whose claim was not followed up, or whose payments were not looked at, for longer than `ageMs`. */
    async leftBehind(ageMs: number, limit: number): Promise<string[]> {
      const before = sql`now() - ${ageMs} * interval '1 millisecond'`
      const [unfinished, unassessed] = await Promise.all([
        database.run(db =>
          db
            .select({ intent: settlement.intent })
            .from(settlement)
            .where(
              and(or(isNull(settlement.creditedAt), isNull(settlement.publishedAt)), lt(settlement.claimedAt, before)),
            )
            .orderBy(asc(settlement.claimedAt))
            .limit(limit),
        ),
        database.run(db =>
          db
            .select({ intent: payment.intent })
            .from(payment)
            .where(and(eq(payment.state, 'received'), isNull(payment.resolvedAt), lt(payment.receivedAt, before)))
            .orderBy(asc(payment.receivedAt))
            .limit(limit),
        ),
      ])
      const ids = [...unfinished, ...unassessed].flatMap(row => (row.intent === null ? [] : [row.intent]))
      return [...new Set(ids)]
    },

    /** A fresh blockhash for an intent of this account; null where there is no such intent. */
    async refresh(
      reference: string,
      account: AccountId,
      fresh: Pick<IntentRow, 'blockhash' | 'lastValidBlockHeight'>,
    ): Promise<IntentRow | null> {
      const [row] = await database.run(db =>
        db
          .update(intent)
          .set(fresh)
          .where(and(eq(intent.reference, reference), eq(intent.account, account)))
          .returning(),
      )
      return row ?? null
    },

    reachable: () => database.query('select 1', []).then(() => true),
  }

  async function stamp(intentId: string, set: Partial<Record<'creditedAt' | 'publishedAt', ReturnType<typeof sql>>>) {
    await database.run(db => db.update(settlement).set(set).where(eq(settlement.intent, intentId)))
  }
}

export function askedOf(row: IntentRow): Asked {
  const { id, reference, usdMicro, tokenRaw, decimals, priceScaled } = row
  return { id, reference, usdMicro, tokenRaw, decimals, priceScaled, expiresAtMs: row.expiresAt.getTime() }
}

export function receivedOf(row: PaymentRow): Received {
  const { signature, attributedRaw, slot, settled } = row
  return {
    signature,
    attributedRaw,
    slot,
    settled,
    blockTimeMs: row.blockTime?.getTime() ?? null,
    receivedAtMs: row.receivedAt.getTime(),
    vanished: row.state === 'vanished',
    resolved: row.resolvedAt !== null,
  }
}
