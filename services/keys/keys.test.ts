import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import {
  hashKey,
  isWellFormedKey,
  KEY_USED_SUBJECT,
  KeysUsed,
  type ListedKey,
  newId,
  type WireOf,
} from '@tollgate/contracts'
import { eventually } from '@tollgate/testing'
import { bearing, type KeysUnderTest, newCaller, startKeys } from './keys.test-helpers.ts'

let keys: KeysUnderTest
beforeAll(async () => {
  keys = await startKeys()
}, 30_000)
afterAll(() => keys.stop())
beforeEach(() => {
  keys.ledger.down = false
})

const refusal = (status: number, code: string) => ({ status, body: { error: { code } } })
const ok = { status: 200, body: { ok: true } }
const unknown = { status: 'unknown' } as const

test('a key is shown once, is stored as a hash only, and resolves to its account', async () => {
  const me = newCaller()
  const { status, body } = await keys.create(me)
  expect(status).toBe(200)
  expect(isWellFormedKey(body.key)).toBe(true)
  expect(body).toEqual({
    key: body.key,
    id: body.id,
    name: 'default',
    prefix: 'svc_live',
    last4: body.key.slice(-4),
    createdAt: expect.any(Number),
    notice: expect.stringContaining('only once'),
  })
  expect(Math.abs(body.createdAt - Date.now())).toBeLessThan(10_000)

  expect(await keys.resolve(body.key)).toEqual({
    status: 'active',
    key: body.id,
    account: me.acct,
    user: me.usr,
    models: null,
    expiresAt: null,
  })
  const { data, canCreate } = await keys.list(me)
  expect(canCreate).toBe(true)
  expect(data).toEqual([
    {
      id: body.id,
      name: 'default',
      prefix: 'svc_live',
      last4: body.last4,
      createdAt: body.createdAt,
      lastUsedAt: 0,
      expiresAt: null,
      models: null,
      spendCapMicro: null,
      spendWindow: 'none',
      spentMicro: 0,
      windowResetsAt: null,
    },
  ])
  const stored = JSON.stringify([await keys.sql('select * from key'), await keys.sql('select * from secret')])
  expect(stored).toContain(hashKey(body.key))
  expect(stored).not.toContain(body.key.slice(9, -4))
})

test('many hashes are resolved in one question, each to its own key', async () => {
  const [me, other] = [newCaller(), newCaller()]
  const [mine, theirs] = [(await keys.create(me)).body, (await keys.create(other)).body]
  const answers = await Promise.all([mine.key, 'nobody’s', theirs.key, mine.key].map(keys.resolve))
  expect(answers.map(answer => (answer.status === 'active' ? answer.key : null))).toEqual([
    mine.id,
    null,
    theirs.id,
    mine.id,
  ])
})

test('a body may be left out, and says nothing else than its fields', async () => {
  const me = newCaller()
  expect((await keys.create(me, '')).body.name).toBe('default')
  expect((await keys.create(me, { name: 'CI', id: 'key_mine', user: 'usr_x' })).body.name).toBe('CI')
  expect((await keys.create(me, { name: '🔑 ключ' })).body.name).toBe('🔑 ключ')
})

test('what a key can’t be is 400, and creates nothing', async () => {
  const me = newCaller()
  const bad: unknown[] = [
    ...[-1, 1.5, 2 ** 53, 1e300, '5', true, {}, []].map(spendCapMicro => ({ spendCapMicro })),
    ...[-0.5, 0.0000001, 0.1 + 0.2, 1_000_001, '5', 1e300, []].map(spendCapUsd => ({ spendCapUsd })),
    '{"spendCapUsd": 1e999}',
    '{"spendCapMicro": 1e999}',
    '{"spendCapUsd": NaN}',
    { spendCapUsd: 1, spendCapMicro: 1_000_000 },
    ...['hourly', 1, null].map(spendWindow => ({ spendCapUsd: 1, spendWindow })),
    { spendWindow: 'daily' },
    ...[1, null, {}, '', ' ', '\t', 'a\nb', 'a\u0000b', '\u2028', 'x'.repeat(101)].map(name => ({ name })),
    '{"name":"\\ud800"}',
    ...[0, Date.now() - 1, Math.floor(Date.now() / 1_000), Date.now() * 1_000, 1.5, -1, '2030'].map(expiresAt => ({
      expiresAt,
    })),
    ...['all', [], [1], [''], ['a b'], ['a\u0000'], ['x'.repeat(201)]].map(models => ({ models })),
    ...['{', 'null', '[]', '"text"', '12'],
  ]
  for (const body of bad) {
    const answer = await keys.create(me, body)
    expect({ body, status: answer.status }).toEqual({ body, status: 400 })
    expect(answer).toMatchObject(refusal(400, 'bad_request'))
  }
  expect((await keys.list(me)).data).toEqual([])
})

test('a hundred parallel creations at 99 keys make exactly one more', async () => {
  const me = newCaller()
  for (let made = 0; made < 99; made += 33) {
    await Promise.all(Array.from({ length: 33 }, () => keys.create(me)))
  }
  expect(await keys.list(me)).toMatchObject({ canCreate: true, data: { length: 99 } })
  const answers = await Promise.all(Array.from({ length: 100 }, () => keys.create(me, { spendCapUsd: 1 })))
  expect(answers.filter(answer => answer.status === 200)).toHaveLength(1)
  const refused = answers.filter(answer => answer.status !== 200)
  for (const answer of refused) expect(answer).toMatchObject(refusal(403, 'forbidden'))
  const { canCreate, data } = await keys.list(me)
  expect({ canCreate, count: data.length }).toEqual({ canCreate: false, count: 100 })

  expect(await keys.ask('DELETE', `/keys/${data[0]?.id}`, { as: me })).toMatchObject(ok)
  expect((await keys.create(me)).status).toBe(200)
  expect((await keys.create(newCaller())).status).toBe(200)
}, 30_000)

test('a creation waits for another of the same user that is not committed yet, and counts it', async () => {
  const me = newCaller()
  await Promise.all(Array.from({ length: 99 }, () => keys.create(me)))
  const [late, stranger] = await keys.while(
    `select create_key('${newId('key')}', '${me.usr}', '${me.acct}', 'hundredth', 'last', '${hashKey(me.usr)}', null, null, 100)`,
    () => keys.create(me),
    () => keys.create(newCaller()),
  )
  expect(late).toMatchObject(refusal(403, 'forbidden'))
  expect(stranger?.status).toBe(200)
  expect((await keys.list(me)).data).toHaveLength(100)
})

test('a cap is the ledger’s before the key can be used, and a ledger that is down leaves no key', async () => {
  const me = newCaller()
  const capped = (await keys.create(me, { spendCapUsd: 1.25, spendWindow: 'daily' })).body
  expect(keys.ledger.caps.get(capped.id)).toMatchObject({ capMicro: 1_250_000n, window: 'daily' })
  expect((await keys.list(me)).data).toMatchObject([
    { spendCapMicro: 1_250_000, spendWindow: 'daily', spentMicro: 250_000, windowResetsAt: 1_800_000_000_000 },
  ])

  keys.ledger.down = true
  expect(await keys.create(me, { spendCapMicro: 5 })).toMatchObject(refusal(503, 'service_unavailable'))
  expect(await keys.ask('GET', '/keys', { as: me })).toMatchObject(refusal(503, 'service_unavailable'))
  keys.ledger.down = false
  expect((await keys.list(me)).data.map(key => key.id)).toEqual([capped.id])
}, 20_000)

test('a revoked key is unknown, closed in the ledger and forgotten by the routers when DELETE answers', async () => {
  const me = newCaller()
  const { key, id } = (await keys.create(me)).body
  expect(await keys.ask('DELETE', `/keys/${id}`, { as: me })).toMatchObject(ok)
  expect(keys.ledger.closed.has(id)).toBe(true)
  expect(await keys.resolve(key)).toEqual(unknown)
  await eventually(() => keys.changed.includes(hashKey(key)))
  expect((await keys.list(me)).data).toEqual([])

  const revokedAt = () => keys.sql(`select revoked_at::text from key where id = '${id}'`)
  const first = await revokedAt()
  expect(await keys.ask('DELETE', `/keys/${id}`, { as: me })).toMatchObject(ok)
  expect(await revokedAt()).toEqual(first)
})

test('a DELETE that the ledger did not answer is no success, stops the key all the same, and can be repeated', async () => {
  const me = newCaller()
  const { key, id } = (await keys.create(me)).body
  keys.ledger.down = true
  expect(await keys.ask('DELETE', `/keys/${id}`, { as: me })).toMatchObject(refusal(503, 'service_unavailable'))
  expect(await keys.resolve(key)).toEqual(unknown)
  expect(keys.ledger.closed.has(id)).toBe(false)
  keys.ledger.down = false
  expect(await keys.ask('DELETE', `/keys/${id}`, { as: me })).toMatchObject(ok)
  expect(keys.ledger.closed.has(id)).toBe(true)
}, 20_000)

test('another user’s key is as unknown as one that is not there, and stays as it was', async () => {
  const [me, other] = [newCaller(), newCaller()]
  const { key, id } = (await keys.create(other)).body
  const none = refusal(404, 'not_found')
  for (const path of [id, newId('key'), 'nonsense', '%00', "'%20or%201=1", 'key_%F0%9F%94%91']) {
    expect(await keys.ask('DELETE', `/keys/${path}`, { as: me })).toMatchObject(none)
    expect(await keys.ask('PATCH', `/keys/${path}`, { as: me, body: { name: 'mine' } })).toMatchObject(none)
    expect(await keys.ask('POST', `/keys/${path}/roll`, { as: me })).toMatchObject(none)
  }
  expect(await keys.resolve(key)).toMatchObject({ status: 'active' })
  expect((await keys.list(other)).data).toMatchObject([{ name: 'default' }])
})

test('without an account every path is 401', async () => {
  for (const [method, path] of [
    ['GET', '/keys'],
    ['POST', '/keys'],
    ['DELETE', `/keys/${newId('key')}`],
    ['PATCH', `/keys/${newId('key')}`],
    ['POST', `/keys/${newId('key')}/roll`],
  ] as const) {
    const body = method === 'PATCH' ? {} : undefined
    expect(await keys.ask(method, path, { body })).toMatchObject(refusal(401, 'unauthorized'))
  }
})

test('a change shows at once, tells the routers, and leaves the rest alone', async () => {
  const me = newCaller()
  const { key, id } = (await keys.create(me, { spendCapMicro: 100, spendWindow: 'weekly' })).body
  const change = async (body: object) =>
    (await keys.ask<WireOf<typeof ListedKey>>('PATCH', `/keys/${id}`, { as: me, body })).body

  expect(await change({ name: 'prod', models: ['a', 'b', 'a'] })).toMatchObject({ name: 'prod', models: ['a', 'b'] })
  expect(await keys.resolve(key)).toMatchObject({ models: ['a', 'b'] })
  await eventually(() => keys.changed.includes(hashKey(key)))
  expect(await change({ spendCapMicro: 200 })).toMatchObject({
    spendCapMicro: 200,
    spendWindow: 'weekly',
    name: 'prod',
  })
  expect(await change({ spendWindow: 'daily' })).toMatchObject({ spendCapMicro: 200, spendWindow: 'daily' })
  expect(await change({ spendCapUsd: null })).toMatchObject({ spendCapMicro: null, spendWindow: 'none' })
  const expiresAt = Date.now() + 3_600_000
  expect(await change({ expiresAt, models: null })).toMatchObject({ expiresAt, models: null })
  expect(await keys.resolve(key)).toMatchObject({ models: null, expiresAt })
  expect(await change({ expiresAt: null })).toMatchObject({ expiresAt: null, name: 'prod' })
  expect(await change({})).toMatchObject({ id, name: 'prod' })

  for (const body of [
    { spendCapMicro: -1 },
    { spendCapUsd: 1, spendCapMicro: 1 },
    { name: '' },
    { expiresAt: 1 },
    { models: [] },
  ]) {
    expect(await keys.ask('PATCH', `/keys/${id}`, { as: me, body })).toMatchObject(refusal(400, 'bad_request'))
  }
  await keys.ask('DELETE', `/keys/${id}`, { as: me })
  expect(await keys.ask('PATCH', `/keys/${id}`, { as: me, body: { name: 'x' } })).toMatchObject(
    refusal(404, 'not_found'),
  )
})

test('an expired key is unknown from its time on', async () => {
  const me = newCaller()
  const { key, id } = (await keys.create(me, { expiresAt: Date.now() + 3_600_000 })).body
  expect(await keys.resolve(key)).toMatchObject({ status: 'active' })
  await keys.sql(`update key set expires_at = now() where id = '${id}'`)
  expect(await keys.resolve(key)).toEqual(unknown)
})

test('a key that may do less than its account can’t make itself a freer one', async () => {
  const me = newCaller()
  const free = (await keys.create(me)).body
  const limits = [{ spendCapUsd: 1 }, { models: ['a'] }, { expiresAt: Date.now() + 3_600_000 }]
  for (const limit of limits) {
    const { id } = (await keys.create(me, limit)).body
    const as = bearing(me, id)
    const forbidden = refusal(403, 'forbidden')
    expect(await keys.create(as)).toMatchObject(forbidden)
    expect(await keys.ask('PATCH', `/keys/${id}`, { as, body: { spendCapUsd: null } })).toMatchObject(forbidden)
    expect(await keys.ask('POST', `/keys/${free.id}/roll`, { as })).toMatchObject(forbidden)
    expect((await keys.list(as)).canCreate).toBe(false)
  }
  const as = bearing(me, free.id)
  expect((await keys.list(as)).canCreate).toBe(true)
  expect((await keys.create(as)).status).toBe(200)
})

test('last uses are written together, never go back, and never lie ahead', async () => {
  const me = newCaller()
  const [used, idle] = [(await keys.create(me)).body, (await keys.create(me)).body]
  const at = Date.now() - 5_000
  const report = (uses: { key: typeof used.id; at: number }[]) =>
    keys.router.notify(KEY_USED_SUBJECT, KeysUsed, { used: uses })
  const shown = async (id: string) => (await keys.list(me)).data.find(key => key.id === id)?.lastUsedAt
  report([
    { key: used.id, at },
    { key: used.id, at: at - 60_000 },
    { key: newId('key'), at },
  ])
  await eventually(async () => (await shown(used.id)) === at, { withinMs: 8_000 })
  expect(await shown(idle.id)).toBe(0)

  report([
    { key: used.id, at: at - 60_000 },
    { key: idle.id, at: Date.now() + 3_600_000 },
  ])
  await eventually(async () => (await shown(idle.id)) !== 0, { withinMs: 8_000 })
  expect(await shown(idle.id)).toBeLessThanOrEqual(Date.now() + 1_000)
  expect(await shown(used.id)).toBe(at)
}, 20_000)
