import { afterAll, beforeAll, expect, test } from 'bun:test'
import { connectBus } from '@tollgate/bus'
import { ANSWERS_BUCKET, newId } from '@tollgate/contracts'
import { eventually } from '@tollgate/testing'
import { startUpstream } from '@tollgate/upstream'
import { sealFor } from './sealing.ts'
import { type Caller, dataOf, type Rig, startRig } from './test/rig.ts'

const CREDIT = 1_000_000n
let requests = 0
const upstream = startUpstream({ tokens: 5, observe: () => requests++ })
let rig: Rig
beforeAll(async () => {
  rig = await startRig(
    { small: { urls: [upstream.url] }, gone: { urls: ['http://127.0.0.1:1/v1'] } },
    { LOG_LEVEL: 'error' },
  )
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await upstream.stop()
})

const body = { model: 'small', max_tokens: 50 }
const spentBy = async ({ acct }: Caller) => CREDIT - (await rig.balance(acct)).availableMicro
/** Sends with an idempotency key; whole answers as text. */
async function send(caller: Caller, key: string, request: object = body, init: RequestInit = {}) {
  const response = await rig.chat(caller, request, { ...init, headers: { 'idempotency-key': key } })
  return {
    status: response.status,
    replayed: response.headers.get('idempotent-replayed'),
    type: response.headers.get('content-type'),
    text: await response.text(),
  }
}

test.each([false, true])(
  'a repeat gets the first answer, byte for byte, and is not charged (stream: %p)',
  async stream => {
    const caller = await rig.account(CREDIT)
    const before = requests
    const first = await send(caller, 'one', { ...body, stream })
    expect(first).toMatchObject({ status: 200, replayed: null })
    const repeats = [await send(caller, 'one', { ...body, stream }), await send(caller, 'one', { ...body, stream })]
    for (const repeat of repeats) expect(repeat).toEqual({ ...first, replayed: 'true' })
    expect(requests - before).toBe(1)
    expect(await spentBy(caller)).toBe(18n)
  },
)

test('a key belongs to one account and one API key', async () => {
  const [alice, bob] = [await rig.account(CREDIT), await rig.account(CREDIT)]
  const first = await send(alice, 'shared')
  for (const other of [bob, { ...alice, key: newId('key') }]) {
    expect((await send(other, 'shared')).text).not.toBe(first.text)
  }
  expect([await spentBy(alice), await spentBy(bob)]).toEqual([36n, 18n])
})

test('the same key with another body is refused', async () => {
  const caller = await rig.account(CREDIT)
  await send(caller, 'two')
  const other = await send(caller, 'two', { ...body, temperature: 0 })
  expect(other.status).toBe(400)
  expect(other.text).toContain('another request')
  expect(await spentBy(caller)).toBe(18n)
})

test('of a hundred at once one runs, and all get its answer', async () => {
  const caller = await rig.account(CREDIT)
  const before = requests
  const slow = { ...body, stream: true, sim: { intervalMs: 100 } }
  const answers = await Promise.all(Array.from({ length: 100 }, () => send(caller, 'three', slow)))
  expect(new Set(answers.map(answer => answer.text)).size).toBe(1)
  expect(answers.filter(answer => answer.replayed === null)).toHaveLength(1)
  expect(dataOf(answers[0]?.text ?? '').at(-1)).toBe('[DONE]')
  expect(requests - before).toBe(1)
  expect(await spentBy(caller)).toBe(18n)
}, 20_000)

test('a caller who left a stream gets all of it by repeating', async () => {
  const caller = await rig.account(CREDIT)
  const slow = { ...body, stream: true, sim: { intervalMs: 50 } }
  const leaving = new AbortController()
  const response = await rig.chat(caller, slow, { headers: { 'idempotency-key': 'four' }, signal: leaving.signal })
  await response.body?.getReader().read()
  leaving.abort()
  const repeat = await send(caller, 'four', slow)
  expect(repeat).toMatchObject({ status: 200, replayed: 'true' })
  expect(dataOf(repeat.text).at(-1)).toBe('[DONE]')
  expect(await spentBy(caller)).toBe(18n)
})

test('what was refused or failed without a charge is tried anew', async () => {
  const caller = await rig.account(0n)
  expect((await send(caller, 'five')).status).toBe(402)
  await rig.credit(caller.acct, CREDIT)
  expect((await send(caller, 'five')).status).toBe(200)
  expect((await send(caller, 'six', { ...body, model: 'gone' })).status).toBe(502)
  expect((await send(caller, 'six')).status).toBe(200)
  expect(await spentBy(caller)).toBe(36n)
})

test('a key that is no key is refused', async () => {
  const caller = await rig.account(CREDIT)
  for (const key of ['', 'x'.repeat(256), 'two words']) expect((await send(caller, key)).status).toBe(400)
})

test('another replica knows the answer, and nobody who reads the store does', async () => {
  const caller = await rig.account(CREDIT)
  const first = await send(caller, 'seven-of-alice')
  const other = await rig.startProxy()
  const own = rig.running.proxy
  rig.running.proxy = other
  expect(await send(caller, 'seven-of-alice')).toEqual({ ...first, replayed: 'true' })
  rig.running.proxy = own
  await other.stop()
  const { url, user, password } = rig.nats.as('metering-proxy')
  const bus = await connectBus({ url, user: 'metering-proxy', password, name: user })
  const records = bus.records(ANSWERS_BUCKET, 86_400_000)
  const repeat = { account: caller.acct, apiKey: null, idempotencyKey: 'seven-of-alice' }
  const { name, open } = sealFor(repeat, ['a secret from before', 'identity of a test'].reverse())
  const claim = await records.read(`${name}.claim`)
  const { owner } = JSON.parse(Buffer.from(open(claim?.value ?? Buffer.of(), `${name}.claim`)).toString())
  const part = await records.read(`${name}.${owner}.0`)
  expect(part?.value.length).toBeGreaterThan(first.text.length)
  const stored = `${name} ${Buffer.from(claim?.value ?? [])} ${Buffer.from(part?.value ?? [])}`
  for (const secret of ['river', 'seven-of-alice', 'chatcmpl', caller.acct]) expect(stored).not.toContain(secret)
  // Neither for another place, nor with another idempotency key, nor with the wrong secret.
  expect(() => open(part?.value ?? Buffer.of(), `${name}.${owner}.1`)).toThrow()
  for (const [changed, secret] of [
    ['other', 'identity of a test'],
    ['seven-of-alice', 'other'],
  ] as const) {
    const seal = sealFor({ ...repeat, idempotencyKey: changed }, [secret])
    expect(() => seal.open(part?.value ?? Buffer.of(), `${name}.${owner}.0`)).toThrow()
  }
  await bus.close()
})

test('a long answer is kept in parts', async () => {
  const caller = await rig.account(10n ** 12n)
  const long = { ...body, max_tokens: 1_000, n: 128, sim: { tokens: 1_000 } }
  const first = await send(caller, 'eight', long)
  expect(first.text.length).toBeGreaterThan(600_000)
  expect(await send(caller, 'eight', long)).toEqual({ ...first, replayed: 'true' })
})

test('the claim of a request that died is taken over', async () => {
  const caller = await rig.account(CREDIT)
  const slow = { ...body, sim: { firstMs: 2_000 } }
  const dead = send(caller, 'nine', slow).catch(() => 'died')
  await eventually(async () => (await rig.gauge('tollgate_completions_in_work')) === 1)
  await rig.running.proxy.kill9()
  expect(await dead).toBe('died')
  rig.running.proxy = await rig.startProxy()
  expect(await send(caller, 'nine', slow)).toMatchObject({ status: 200, replayed: null })
}, 60_000)
