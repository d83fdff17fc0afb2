import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Bus } from '@tollgate/bus'
import { newId } from '@tollgate/contracts'
import type { Log } from '@tollgate/service'
import { answers, completionText, type RawUpstream, startRaw, streams } from '@tollgate/upstream'
import fc from 'fast-check'
import { openCharge } from './charge.ts'
import { costMicro } from './price.ts'
import { openSettlements, type Settled, type Settlement } from './settlements.ts'
import { dataOf, type Rig, startRig } from './test/rig.ts'
import type { Usage } from './usage.ts'

const prices = { inMicro: 150_000n, outMicro: 600_000n, cachedInMicro: 75_000n, cacheWriteMicro: 187_500n }
let raw: RawUpstream
let rig: Rig
beforeAll(async () => {
  // A provider that reports whatever the request says.
  raw = await startRaw(wire => {
    const { stream, report } = JSON.parse(wire.body)
    return (stream ? streams({ usages: [report] }) : answers(200, completionText({ usage: report })))(wire)
  })
  const entry = { inMicro: 150_000, outMicro: 600_000, cachedInMicro: 75_000, cacheWriteMicro: 187_500 }
  rig = await startRig({ telling: { urls: [raw.url], entry } }, { LOG_LEVEL: 'silent' })
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await raw?.stop()
})

/** Zero is no report: what is then charged is counted. */
const count = fc.oneof(
  fc.integer({ min: 1, max: 50 }),
  fc.integer({ min: 1, max: 1_000_000 }),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  fc.constant(Number.MAX_SAFE_INTEGER),
)
const reported = fc.record({
  prompt: count,
  completion: count,
  cached: count,
  write: count,
  stream: fc.boolean(),
  credit: fc.integer({ min: 500, max: 1_000_000 }),
})

test('for any usage at all the charge is the formula, up to everything that the account has', async () => {
  await fc.assert(
    fc.asyncProperty(reported, async ({ prompt, completion, cached, write, stream, credit }) => {
      const caller = await rig.account(BigInt(credit))
      const report = {
        prompt_tokens: prompt,
        completion_tokens: completion,
        prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: write },
      }
      const response = await rig.chat(caller, { model: 'telling', stream, max_tokens: 10, report })
      const text = await response.text()
      const last = JSON.parse(stream ? (dataOf(text).at(-2) ?? '') : text)
      const cachedTokens = Math.min(cached, prompt)
      const cacheWriteTokens = Math.min(write, prompt - cachedTokens)
      const formula = costMicro(
        { promptTokens: prompt, cachedTokens, cacheWriteTokens, completionTokens: completion },
        prices,
      )
      const expected = formula < BigInt(credit) ? Number(formula) : credit
      expect(last.usage_ext).toEqual({ cost_micro: expected })
      expect(await rig.balance(caller.acct)).toMatchObject({ availableMicro: BigInt(credit - expected), heldMicro: 0n })
    }),
    { numRuns: 60 },
  )
}, 30_000)

test('what the account could not pay is recorded as shortfall', async () => {
  const caller = await rig.account(1_000n)
  const report = { prompt_tokens: 10_000, completion_tokens: 10_000 }
  await (await rig.chat(caller, { model: 'telling', max_tokens: 10, report })).text()
  const [settled] = (await rig.history(caller.acct)).entries
  expect(settled).toMatchObject({ kind: 'settle', amountMicro: -1_000n, shortfallMicro: 6_500n, postedMicro: 0n })
})

const usage: Usage = { promptTokens: 1_000_000, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0 }
const ending = { usage, estimated: false, outcome: 'completed', route: 'a/b' } as const

function charge(reply: Settled | Promise<Settled> = null) {
  const delivered: Settlement[] = []
  const opened = openCharge({
    requestId: newId('request'),
    account: newId('account'),
    holdId: 'hold:1',
    grantedMicro: 1_000n,
    model: 'm',
    prices,
    deliver: async settlement => {
      delivered.push(settlement)
      return reply
    },
    onClose: () => undefined,
  })
  return { opened, delivered }
}

test('of all the ends that a request comes to, the first decides, and one settlement is sent', async () => {
  const settledFirst = charge({ status: 'settled', chargedMicro: 7n, shortfallMicro: 0n, availableMicro: 0n })
  const amounts = await Promise.all([
    settledFirst.opened.settle(ending),
    settledFirst.opened.settle({ ...ending, usage: { ...usage, promptTokens: 5 } }),
  ])
  await settledFirst.opened.release()
  expect(amounts).toEqual([7n, 7n])
  expect(settledFirst.delivered.map(({ kind }) => kind)).toEqual(['settle'])
  const releasedFirst = charge({ status: 'released', freedMicro: 1_000n })
  await releasedFirst.opened.release()
  expect(await releasedFirst.opened.settle(ending)).toBe(0n)
  expect(releasedFirst.delivered.map(({ kind }) => kind)).toEqual(['release'])
})

test('what we counted ourselves is charged up to the hold, what was reported is the bill', async () => {
  expect(await charge().opened.settle({ ...ending, estimated: true })).toBe(1_000n)
  expect(await charge().opened.settle(ending)).toBe(150_000n)
})

test('what was done so far is never told as more than the hold', () => {
  const { opened } = charge()
  expect(opened.soFarMicro).toBe(0n)
  opened.track(() => ({ ...usage, promptTokens: 1_000 }))
  expect(opened.soFarMicro).toBe(150n)
  opened.track(() => usage)
  expect(opened.soFarMicro).toBe(1_000n)
})

test('an answer does not wait for a ledger that does not answer', async () => {
  const start = performance.now()
  expect(await charge(new Promise<Settled>(() => undefined)).opened.settle(ending)).toBe(150_000n)
  expect(performance.now() - start).toBeLessThan(6_000)
}, 10_000)

test('a settlement that the ledger refuses is told to the operator, a release is not', async () => {
  const told: unknown[] = []
  // Of both, only what a delivery uses.
  const log = { error: (event: unknown) => told.push(event) } as unknown as Log
  const bus = { call: async () => ({ status: 'refused', reason: 'unknown_hold' }) } as unknown as Bus
  const settlements = openSettlements({ bus, log, waitingMax: 1 })
  const { opened, delivered } = charge()
  await opened.settle(ending)
  for (const settlement of delivered) await settlements.deliver(settlement)
  expect(told).toEqual([{ settlement: `settle:${opened.requestId}`, reason: 'unknown_hold', alert: true }])
  const request = { id: `release:${opened.requestId}`, hold: opened.holdId, account: opened.account } as const
  await settlements.deliver({ kind: 'release', request })
  expect(told).toHaveLength(1)
})
