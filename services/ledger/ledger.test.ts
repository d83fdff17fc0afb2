import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { codecOf } from '@tollgate/bus'
import { ledger, newId, shardOf } from '@tollgate/contracts'
import { session } from '@tollgate/db/session'
import { eventually } from '@tollgate/testing'
import { chargeDetail, creditDetail } from './test/details.ts'
import { START_MS } from './test/rig.ts'
import { type Stack, stack } from './test/stack.ts'

let on: Stack
beforeAll(async () => {
  on = await stack()
  on.start()
  on.start()
  await on.answering(START_MS)
}, START_MS)
afterAll(async () => {
  expect(await on.audit()).toEqual([])
  await on.stop()
}, START_MS)

const balance = (account: ledger.JournalEntry['account']) => on.operator.call(ledger.balance, { account })

test('over NATS, a hold and its settlement move exactly what was used', async () => {
  const account = await on.funded(100n)
  const hold = `hold:${newId('request')}`
  const held = { id: hold, account, key: null, minMicro: 60n, maxMicro: 60n, ttlMs: 60_000 }
  expect(await on.proxy.call(ledger.hold, held)).toEqual({ status: 'held', grantedMicro: 60n, availableMicro: 40n })
  expect(await balance(account)).toEqual({ postedMicro: 100n, heldMicro: 60n, availableMicro: 40n })
  expect(await on.proxy.call(ledger.extend, { hold, account, ttlMs: 60_000, costMicro: 5n })).toEqual({
    status: 'extended',
  })
  const settlement = { id: `settle:${hold}`, hold, account, costMicro: 45n, detail: chargeDetail }
  const settled = { status: 'settled' as const, chargedMicro: 45n, shortfallMicro: 0n, availableMicro: 55n }
  expect(await on.proxy.call(ledger.settle, settlement)).toEqual(settled)
  expect(await on.proxy.call(ledger.settle, settlement)).toEqual(settled)
  expect(await balance(account)).toEqual({ postedMicro: 55n, heldMicro: 0n, availableMicro: 55n })
})

test('each operation of the contract answers in its own words, and its refusals too', async () => {
  const account = await on.funded(100n)
  const key = newId('key')
  const billing = await on.as('billing')
  const keys = await on.as('keys')
  const credit = { id: `credit:${account}`, account, amountMicro: 50n, detail: creditDetail }
  expect(await billing.call(ledger.credit, credit)).toEqual({ status: 'credited', availableMicro: 150n })
  expect(
    await keys.call(ledger.setCap, { id: `set_cap:${key}`, account, key, capMicro: 30n, window: 'daily' }),
  ).toEqual({ status: 'cap_set' })
  const hold = { id: `hold:${key}`, account, key, minMicro: 10n, maxMicro: 30n, ttlMs: 60_000 }
  expect(await on.proxy.call(ledger.hold, hold)).toEqual({ status: 'held', grantedMicro: 15n, availableMicro: 15n })
  expect(await on.proxy.call(ledger.hold, { ...hold, id: `${hold.id}2`, minMicro: 20n })).toEqual({
    status: 'refused',
    reason: 'cap_reached',
    availableMicro: 15n,
  })
  const {
    keys: [spend],
  } = await keys.call(ledger.keySpend, { account, keys: [key] })
  const nextMidnight = Math.ceil(Date.now() / 86_400_000) * 86_400_000
  expect(spend).toEqual({ key, capMicro: 30n, window: 'daily', spentMicro: 0n, heldMicro: 15n, resetsAt: nextMidnight })
  expect(await on.proxy.call(ledger.release, { id: `release:${key}`, hold: hold.id, account })).toEqual({
    status: 'released',
    freedMicro: 15n,
  })
  expect(await keys.call(ledger.closeKey, { id: `close_key:${key}`, account, key })).toEqual({ status: 'key_closed' })
  expect(await on.proxy.call(ledger.hold, { ...hold, id: `${hold.id}3` })).toMatchObject({
    status: 'refused',
    reason: 'key_closed',
  })
  expect(
    await on.operator.call(ledger.adjust, { id: `adjust:${key}`, account, amountMicro: -151n, reason: 'too much' }),
  ).toEqual({ status: 'refused', reason: 'insufficient_credits', availableMicro: 150n })
})

test('the history is newest first, in pages, by kind, refusals included', async () => {
  const account = await on.funded(100n)
  for (const n of [1, 2, 3]) {
    await on.proxy.call(ledger.hold, {
      id: `hold:${account}${n}`,
      account,
      key: null,
      minMicro: 60n,
      maxMicro: 60n,
      ttlMs: 60_000,
    })
  }
  const ask = { account, kinds: [], before: null, limit: 3 }
  const page = await on.operator.call(ledger.history, ask)
  expect(page.entries.map(({ kind, refusal }) => `${kind} ${refusal ?? 'posted'}`)).toEqual([
    'hold insufficient_credits',
    'hold insufficient_credits',
    'hold posted',
  ])
  const rest = await on.operator.call(ledger.history, { ...ask, before: page.next })
  expect(rest.entries).toMatchObject([
    { kind: 'adjust', amountMicro: 100n, postedMicro: 100n, heldMicro: 0n, detail: { v: 1, reason: 'test' } },
  ])
  expect(rest.next).toBeNull()
  const adjustments = await on.operator.call(ledger.history, { ...ask, kinds: ['adjust'] })
  expect(adjustments.entries).toEqual(rest.entries)
})

test('a hold that nobody extends is free again within its life and 5 s', async () => {
  const account = await on.funded(100n)
  const hold = `hold:${newId('request')}`
  await on.proxy.call(ledger.hold, { id: hold, account, key: null, minMicro: 60n, maxMicro: 60n, ttlMs: 1_000 })
  await on.proxy.call(ledger.extend, { hold, account, ttlMs: 1_000, costMicro: 7n })
  await eventually(async () => (await balance(account)).heldMicro === 0n, { withinMs: 6_000 })
  expect(await balance(account)).toMatchObject({ postedMicro: 93n })
  const { entries } = await on.operator.call(ledger.history, { account, kinds: ['expire'], before: null, limit: 5 })
  expect(entries).toMatchObject([{ id: `expire:${hold}`, hold, amountMicro: -7n }])
}, 15_000)

test('a settlement that waited in the queue is charged, once, however often it is delivered', async () => {
  const account = await on.funded(100n)
  const hold = `hold:${newId('request')}`
  await on.proxy.call(ledger.hold, { id: hold, account, key: null, minMicro: 60n, maxMicro: 60n, ttlMs: 60_000 })
  const request = { id: `settle:${hold}`, hold, account, costMicro: 45n, detail: chargeDetail }
  const other = `${hold}b`
  const subject = `${ledger.SETTLEMENTS_SUBJECT}.${shardOf(account)}`
  for (const delivery of [1, 2, 3]) {
    await on.proxy.enqueue(subject, codecOf(ledger.settle.request).toWire(request), { id: `${request.id} ${delivery}` })
    await on.proxy.enqueue(
      subject,
      codecOf(ledger.release.request).toWire({ id: `release:${other}`, hold: other, account }),
      { id: `${other} ${delivery}` },
    )
  }
  await on.proxy.enqueue(subject, { not: 'a settlement' }, { id: `${hold} bad` })
  await eventually(async () => (await balance(account)).heldMicro === 0n)
  expect(await on.proxy.call(ledger.settle, request)).toMatchObject({ status: 'settled', chargedMicro: 45n })
  expect(await balance(account)).toMatchObject({ postedMicro: 55n })
})

test('the journal is told as events: each entry once, by kind, in its order; the example consumer adds them up', async () => {
  const example = Bun.spawn([process.execPath, join(import.meta.dir, 'examples', 'spending.ts')], {
    env: { PATH: process.env.PATH ?? '', NATS_URL: on.broker.url, NATS_PASSWORD: on.broker.as('consumer').password },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const account = await on.funded(100n)
  for (const cost of [5n, 7n, 11n]) {
    const hold = `hold:${newId('request')}`
    await on.proxy.call(ledger.hold, { id: hold, account, key: null, minMicro: 20n, maxMicro: 20n, ttlMs: 60_000 })
    const request = { id: `settle:${hold}`, hold, account, costMicro: cost, detail: chargeDetail }
    await Promise.all([on.proxy.call(ledger.settle, request), on.proxy.call(ledger.settle, request)])
  }
  let said = ''
  for await (const chunk of example.stdout.pipeThrough(new TextDecoderStream())) {
    said += chunk
    if (said.includes('total 23\n')) break
  }
  example.kill()
  await example.exited
  const totals = said.split('\n').filter(line => line.startsWith(account))
  expect(totals.map(line => line.split(' ').slice(2).join(' '))).toEqual(['5 total 5', '7 total 12', '11 total 23'])
})

test('nobody but its callers may ask: the server drops the question', async () => {
  const account = await on.funded(1n)
  const router = await on.as('router')
  const stolen = router.call(
    ledger.adjust,
    { id: `adjust:${account}`, account, amountMicro: 5n, reason: 'mine' },
    { deadlineMs: 300, attemptMs: 200 },
  )
  await expect(stolen).rejects.toThrow('did not answer')
  expect(await balance(account)).toMatchObject({ postedMicro: 1n })
})

test("the service's role can't touch money except through ledger.apply", async () => {
  const attempts = [
    'update journal set amount_micro = 1',
    'delete from journal',
    'truncate journal',
    'insert into posting select * from posting',
    'update posting set amount_micro = 1',
    'update account set posted_micro = 1',
    'delete from op',
    'delete from open_hold',
    'update key_cap set cap_micro = null',
    'select retire_journal(now())',
    'drop table journal',
    "select refuse_early('hold:1', 'acct_1', now())",
  ]
  await session(on.database.urls.ledger.runtime, async run => {
    for (const attempt of attempts) await expect(run(attempt)).rejects.toThrow(/permission denied|must be owner/)
  })
})
