import { afterAll, beforeAll, expect, test } from 'bun:test'
import { newId } from '@tollgate/contracts'
import { auditSql } from './checks.ts'
import type { Operation } from './operation.ts'
import { credit, hold, settle } from './test/requests.ts'
import { type Rig, rig, START_MS } from './test/rig.ts'

let on: Rig
beforeAll(async () => {
  on = await rig()
}, START_MS)
afterAll(() => on.close(), START_MS)

/** Makes all that has happened so far older, month partitions included. */
async function age(months: number): Promise<void> {
  for (const table of ['journal', 'posting']) {
    await on.admin(`
      do $$ begin
        execute format('create table if not exists ${table}%s partition of ${table} for values from (%L) to (%L)',
          to_char(now() - interval '${months} months', '_YYYY_MM'),
          date_trunc('month', now() at time zone 'UTC' - interval '${months} months') at time zone 'UTC',
          (date_trunc('month', now() at time zone 'UTC' - interval '${months} months') + interval '1 month') at time zone 'UTC');
        execute format('alter table ${table}%s owner to ledger_owner', to_char(now() - interval '${months} months', '_YYYY_MM'));
      end $$`)
    await on.admin(`update ${table} set at = at - interval '${months} months'`)
  }
  await on.admin(`update op set at = at - interval '${months} months'`)
}

async function retention(): Promise<{ said: string; status: number }> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/retention.ts`], {
    env: { PATH: process.env.PATH ?? '', DATABASE_OWNER_URL: on.urls.owner },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return { said: (await child.stdout.text()) + (await child.stderr.text()), status: await child.exited }
}

test('old months go and every sum stays whole; what was not relayed stays; a credit is remembered for ever', async () => {
  const account = newId('account')
  const key = newId('key')
  const paid = credit(account, 100n)
  const used: Operation<'hold'> = { ...hold(account, 40n), key }
  for (const operation of [paid, used, settle(used, 30n)]) await on.batcher.submit(operation)
  await age(15)

  const unrelayed = await retention()
  expect(unrelayed.said).toContain('were not relayed yet')
  expect(unrelayed.status).toBe(1)
  await on.admin("update duty set progress = 1000000 where name = 'relay'")
  const relayed = await retention()
  expect(relayed.said).toContain('dropped 1 months of the journal, forgot 2 operations')

  expect(await on.admin('select count(*)::int as entries from journal')).toEqual([{ entries: 0 }])
  expect(await on.admin(auditSql)).toEqual([])
  expect(await on.batcher.submit(paid)).toMatchObject({ outcome: 'done', availableMicro: 100n })
  expect(await on.store.balance(account)).toMatchObject({ postedMicro: 70n })

  const next: Operation<'hold'> = { ...hold(account, 70n), key }
  for (const operation of [next, settle(next, 60n)]) await on.batcher.submit(operation)
  expect(await on.admin(auditSql)).toEqual([])
  await age(14)
  await retention()
  expect(await on.admin(auditSql)).toEqual([])
  expect(await on.store.balance(account)).toMatchObject({ postedMicro: 10n })
})

test('every month ahead has its partitions, however often they are made', async () => {
  await Promise.all([on.store.ensurePartitions(5), on.writer().store.ensurePartitions(5)])
  const rows = await on.admin(
    "select count(*)::int as months from pg_class where relname like 'journal_2%' and relkind = 'r' and relname >= to_char(now(), '\"journal_\"YYYY_MM')",
  )
  expect(rows).toEqual([{ months: 6 }])
})

test('caps start anew at midnight UTC wherever the server thinks it is, weeks on Monday', async () => {
  const nextOf = async (window: string, at: string) => {
    await on.admin("set timezone = 'Asia/Tokyo'")
    const [row] = await on.admin(`select (extract(epoch from next_reset('${window}', '${at}')) * 1000)::float8 as next`)
    return new Date(Number(row?.next)).toISOString()
  }
  const lastMoment = '2026-12-31 23:59:59.9+00'
  expect(await nextOf('daily', lastMoment)).toBe('2027-01-01T00:00:00.000Z')
  expect(await nextOf('weekly', lastMoment)).toBe('2027-01-04T00:00:00.000Z')
  expect(await nextOf('monthly', lastMoment)).toBe('2027-01-01T00:00:00.000Z')
  expect(await nextOf('weekly', '2026-11-16 00:00:00+00')).toBe('2026-11-23T00:00:00.000Z')
})
