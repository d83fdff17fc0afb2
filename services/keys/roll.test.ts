import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hashKey, isWellFormedKey } from '@tollgate/contracts'
import { eventually } from '@tollgate/testing'
import { type KeysUnderTest, newCaller, startKeys } from './keys.test-helpers.ts'

let keys: KeysUnderTest
beforeAll(async () => {
  keys = await startKeys()
}, 30_000)
afterAll(() => keys.stop())

const refusal = (status: number, code: string) => ({ status, body: { error: { code } } })
const unknown = { status: 'unknown' } as const

test('a roll waits for another of the same key, and gives its secret an end', async () => {
  const me = newCaller()
  const { id } = (await keys.create(me)).body
  const [late] = await keys.while(
    `select roll_key('${id}', '${me.usr}', '${hashKey('the other')}', 'last', '1 hour', 5)`,
    () => keys.ask('POST', `/keys/${id}/roll`, { as: me, body: { graceSeconds: 60 } }),
  )
  expect(late?.status).toBe(200)
  expect(await keys.sql(`select 1 from secret where key_id = '${id}'`)).toHaveLength(3)
  expect(await keys.sql(`select 1 from secret where key_id = '${id}' and ends_at is null`)).toHaveLength(1)
})

test('a roll gives a new secret; the old one opens until its grace ends, and not beyond', async () => {
  const me = newCaller()
  const first = (await keys.create(me, { name: 'deploy' })).body
  const roll = async (body?: object) =>
    (await keys.ask<typeof first>('POST', `/keys/${first.id}/roll`, { as: me, body })).body

  const second = await roll({ graceSeconds: 600 })
  expect(second).toMatchObject({
    id: first.id,
    name: 'deploy',
    createdAt: first.createdAt,
    last4: second.key.slice(-4),
  })
  expect(isWellFormedKey(second.key)).toBe(true)
  await eventually(() => keys.changed.includes(hashKey(first.key)))
  const old = await keys.resolve(first.key)
  if (old.status !== 'active' || old.expiresAt === null) throw new Error('the old secret must work, and end')
  expect(Math.abs(old.expiresAt - Date.now() - 600_000)).toBeLessThan(10_000)
  expect(await keys.resolve(second.key)).toMatchObject({ status: 'active', key: first.id, expiresAt: null })

  await keys.sql(`update secret set ends_at = now() where hash = '${hashKey(first.key)}'`)
  expect(await keys.resolve(first.key)).toEqual(unknown)
  const third = await roll({ graceSeconds: 0 })
  expect(await keys.resolve(second.key)).toEqual(unknown)
  expect(await keys.resolve(third.key)).toMatchObject({ status: 'active' })
  expect((await keys.list(me)).data).toMatchObject([{ last4: third.key.slice(-4) }])

  const fourth = await roll()
  await keys.ask('DELETE', `/keys/${first.id}`, { as: me })
  for (const secret of [third, fourth]) expect(await keys.resolve(secret.key)).toEqual(unknown)
})

test('parallel rolls leave one secret without an end, and a bounded number with one', async () => {
  const me = newCaller()
  const { id } = (await keys.create(me)).body
  const rolls = await Promise.all(
    Array.from({ length: 20 }, () => keys.ask('POST', `/keys/${id}/roll`, { as: me, body: { graceSeconds: 60 } })),
  )
  expect(rolls.filter(roll => roll.status === 200)).toHaveLength(4)
  expect(rolls.filter(roll => roll.status === 400)).toHaveLength(16)
  expect(await keys.sql(`select 1 from secret where key_id = '${id}' and ends_at is null`)).toHaveLength(1)
  expect(await keys.sql(`select 1 from secret where key_id = '${id}'`)).toHaveLength(5)
  expect((await keys.ask('POST', `/keys/${id}/roll`, { as: me, body: { graceSeconds: 0 } })).status).toBe(200)
  for (const graceSeconds of [-1, 1.5, 604_801, '60']) {
    expect(await keys.ask('POST', `/keys/${id}/roll`, { as: me, body: { graceSeconds } })).toMatchObject(
      refusal(400, 'bad_request'),
    )
  }
})
