import type { UsageRow, WireOf } from '@tollgate/contracts'
import type { Database } from '@tollgate/db'
import { and, asc, between, desc, eq, sql } from 'drizzle-orm'
import { usageDay } from '../schema.ts'
import type { Charge } from './charge.ts'

export interface UsageFilter {
  account: string
  /** First and last day, UTC. */
  from: string
  to: string
  model: string | null
  key: string | null
}

export type UsageStore = ReturnType<typeof createUsageStore>

const NO_KEY = ''

/** The usage read model. */
export function createUsageStore(database: Database) {
  return {
    /**
     * Counts each charge once, however often it comes: the ids and the sums change in one statement. Rows are written in the
     * order of their keys, all ids before all sums, so that statements that share some wait for each other and never in a circle.
     */
    async count(charges: readonly Charge[]): Promise<void> {
      await database.query(
        `with given as (
           select distinct on (id) * from json_to_recordset($1::text::json) as given
             (id text, at_ms bigint, account text, day date, model text, key text,
              prompt_tokens bigint, cached_tokens bigint, completion_tokens bigint, cost_micro bigint)
           order by id
         ), fresh as (
           insert into usage_counted (id, at) select id, to_timestamp(at_ms / 1000.0) from given order by id
           on conflict do nothing returning id
         )
         insert into usage_day as known
           (account, day, model, key, requests, prompt_tokens, cached_tokens, completion_tokens, cost_micro)
         select account, day, model, key, count(*),
           sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens), sum(cost_micro)
         from given join fresh using (id) group by account, day, model, key order by account, day, model, key
         on conflict (account, day, model, key) do update set
           requests = known.requests + excluded.requests,
           prompt_tokens = known.prompt_tokens + excluded.prompt_tokens,
           cached_tokens = known.cached_tokens + excluded.cached_tokens,
           completion_tokens = known.completion_tokens + excluded.completion_tokens,
           cost_micro = known.cost_micro + excluded.cost_micro`,
        [JSON.stringify(charges.map(rowOf))],
      )
    },

    /** Newest day first. */
    async read({ account, from, to, model, key }: UsageFilter): Promise<WireOf<typeof UsageRow>[]> {
      const rows = await database.run(db =>
        db
          .select()
          .from(usageDay)
          .where(
            and(
              eq(usageDay.account, account),
              between(usageDay.day, from, to),
              model === null ? undefined : eq(usageDay.model, model),
              key === null ? undefined : eq(usageDay.key, key),
            ),
          )
          .orderBy(desc(usageDay.day), asc(usageDay.model), asc(usageDay.key)),
      )
      return rows.map(({ account: _, costMicro, key: keyId, ...row }) => {
        return { ...row, key: keyId === NO_KEY ? null : keyId, costMicro: Number(costMicro) }
      })
    },

    /** Forgets everything; the events then fill it again. */
    async clear(): Promise<void> {
      await database.query('with counted as (delete from usage_counted) delete from usage_day', [])
    },

    /** Ids older than the events live can't come again. */
    async forget(olderThanMs: number): Promise<void> {
      await database.run(db =>
        db.execute(sql`delete from billing.usage_counted where at < now() - ${olderThanMs} * interval '1 millisecond'`),
      )
    },
  }
}

/** A charge as the statement reads it; the amount as text, since JSON has no bigint. */
function rowOf(charge: Charge) {
  return {
    id: charge.id,
    at_ms: charge.atMs,
    account: charge.account,
    day: charge.day,
    model: charge.model,
    key: charge.key ?? NO_KEY,
    prompt_tokens: charge.promptTokens,
    cached_tokens: charge.cachedTokens,
    completion_tokens: charge.completionTokens,
    cost_micro: charge.costMicro.toString(),
  }
}
