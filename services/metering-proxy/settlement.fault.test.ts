import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '@tollgate/testing'
import { startUpstream } from '@tollgate/upstream'
import { type Caller, dataOf, type Rig, startRig } from './test/rig.ts'

const CREDIT = 100_000_000n
/** 8 prompt and 20 completion tokens. */
const FULL = 8n + 2n * 20n
const HOLD_TTL_MS = 2_000
const EXTEND_EVERY_MS = 400
const upstream = startUpstream({ tokens: 20, intervalMs: 20 })
let rig: Rig
beforeAll(async () => {
  rig = await startRig(
    { small: { urls: [upstream.url] } },
    {
      HOLD_TTL_MS: String(HOLD_TTL_MS),
      EXTEND_EVERY_MS: String(EXTEND_EVERY_MS),
      UNSETTLED_MAX: '3',
      DRAIN_MS: '300',
      LOG_LEVEL: 'silent',
    },
  )
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await upstream.stop()
})

/** A stream whose first bytes have come. */
async function begun(caller: Caller, sim: object = {}) {
  const response = await rig.chat(caller, { model: 'small', stream: true, max_tokens: 1_000, sim })
  const reader = response.body?.getReader()
  if (!reader) throw new Error('no stream')
  let text = new TextDecoder().decode((await reader.read()).value)
  const rest = async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += new TextDecoder().decode(part.value)
    return dataOf(text)
  }
  return { rest }
}

const balanceIs = (caller: Caller, availableMicro: bigint) =>
  eventually(
    async () => {
      const now = await rig.balance(caller.acct)
      return now.heldMicro === 0n && now.availableMicro === availableMicro
    },
    { withinMs: 15_000 },
  )
async function kinds(caller: Caller): Promise<string[]> {
  return (await rig.history(caller.acct)).entries.map(entry => entry.kind).reverse()
}

test('a stream that outlives the life of its hold keeps it', async () => {
  const caller = await rig.account(CREDIT)
  const { rest } = await begun(caller, { intervalMs: 200 })
  expect((await rest()).at(-1)).toBe('[DONE]')
  await balanceIs(caller, CREDIT - FULL)
  expect(await kinds(caller)).toEqual(['hold', 'settle'])
}, 20_000)

test('while the ledger is away answers end, and their charges wait in the queue until it is back', async () => {
  const caller = await rig.account(CREDIT)
  const stream = await begun(caller)
  await rig.running.ledger.kill9()
  const data = await stream.rest()
  expect(data.at(-1)).toBe('[DONE]')
  expect(JSON.parse(data.at(-2) ?? '').usage_ext).toMatchObject({ cost_micro: Number(FULL) })
  await eventually(async () => (await rig.gauge('tollgate_settlements_waiting')) === 0, { withinMs: 10_000 })
  rig.running.ledger = await rig.startLedger()
  await balanceIs(caller, CREDIT - FULL)
}, 40_000)

test('while NATS is away charges wait in memory, new requests are told 503, and the charges arrive once', async () => {
  const caller = await rig.account(CREDIT)
  const streams = await Promise.all([begun(caller), begun(caller), begun(caller)])
  await rig.nats.kill9()
  for (const stream of streams) expect((await stream.rest()).at(-1)).toBe('[DONE]')
  // Three wait, and three are all that may: this one is refused at once.
  const start = performance.now()
  const refused = await rig.chat(caller, { model: 'small' })
  expect(refused.status).toBe(503)
  expect(((await refused.json()) as { error: { code: string } }).error.code).toBe('service_unavailable')
  expect(performance.now() - start).toBeLessThan(1_000)
  expect(await rig.gauge('tollgate_settlements_waiting')).toBe(3)
  await rig.nats.restart()
  await balanceIs(caller, CREDIT - 3n * FULL)
  await eventually(async () => (await rig.chat(caller, { model: 'small', max_tokens: 5 })).status === 200, {
    withinMs: 10_000,
  })
}, 60_000)

test('a killed proxy gives away no more than the work of one interval', async () => {
  const caller = await rig.account(CREDIT)
  const intervalMs = 100
  const start = performance.now()
  await begun(caller, { tokens: 500, intervalMs })
  await Bun.sleep(3 * EXTEND_EVERY_MS + EXTEND_EVERY_MS / 2)
  const streamedMs = performance.now() - start
  await rig.running.proxy.kill9()
  await eventually(async () => (await kinds(caller)).includes('expire'), { withinMs: 20_000 })
  const { availableMicro, heldMicro } = await rig.balance(caller.acct)
  const charged = Number(CREDIT - availableMicro)
  expect(heldMicro).toBe(0n)
  // At 2 micro-USD a token, one token an interval; one more for what was on its way.
  const given = (2 * streamedMs) / intervalMs
  expect(charged).toBeGreaterThan(given - 2 * (EXTEND_EVERY_MS / intervalMs + 2))
  rig.running.proxy = await rig.startProxy()
}, 40_000)

test('SIGTERM lets streams end, settles those that do not, and leaves no hold behind', async () => {
  const [quick, slow] = [await rig.account(CREDIT), await rig.account(CREDIT)]
  const stream = await begun(quick, { tokens: 5, intervalMs: 20 })
  const cut = await begun(slow, { tokens: 500, intervalMs: 50 })
  const exit = rig.running.proxy.stop()
  expect((await stream.rest()).at(-1)).toBe('[DONE]')
  await cut.rest().catch(() => undefined)
  expect(await exit).toBe(0)
  // At once: no expiry has to clean up.
  expect(await kinds(quick)).toEqual(['hold', 'settle'])
  expect(await kinds(slow)).toEqual(['hold', 'settle'])
  const [entry] = (await rig.history(slow.acct)).entries
  expect(entry?.detail).toMatchObject({ outcome: 'shutdown', estimated: true })
  rig.running.proxy = await rig.startProxy()
}, 40_000)
