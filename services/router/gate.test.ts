import { expect, test } from 'bun:test'
import type { Limiter, Take } from '@tollgate/bus'
import { defaultLimits, type Limit } from '@tollgate/contracts'
import { createGate } from './gate.ts'
import { addLimitHeaders, rateLimited } from './limits.ts'

const three: Limit = { count: 3, windowMs: 1_000, per: 'user', whenUnknown: 'allow' }

/** A gate on a clock of its own, over a limiter that answers what the test says and counts how often it was asked. */
function gateOver(answers: (n: number) => Take, limit: Limit = three) {
  const state = { now: 0, asked: 0, connected: true }
  const limiter: Limiter = {
    ensure: async () => undefined,
    take: async () => answers(state.asked++),
  }
  const gate = createGate({ limit, limiter, isConnected: () => state.connected, nowMs: () => state.now })
  return { gate, state }
}

const taken: Take = { status: 'taken' }
const unknown: Take = { status: 'unknown' }

test('remaining counts down, and what is known to be full is refused without asking JetStream', async () => {
  const { gate, state } = gateOver(() => taken)
  const seen = []
  for (let n = 0; n < 100; n++) seen.push(await gate.take('me'))
  expect(seen.slice(0, 3).map(({ remaining }) => remaining)).toEqual([2, 1, 0])
  expect(seen.filter(({ allowed }) => allowed)).toHaveLength(3)
  expect(state.asked).toBe(3)
  expect(seen[99]).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 1_000, resetMs: 1_000 })
  state.now = 1_000
  expect(await gate.take('me')).toMatchObject({ allowed: true, remaining: 2 })
})

test('a window that other routers filled is refused here until JetStream gives a place back', async () => {
  const { gate, state } = gateOver(n => (n === 0 ? { status: 'full', retryAfterMs: 400 } : taken))
  expect(await gate.take('me')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 400 })
  state.now = 399
  expect(await gate.take('me')).toMatchObject({ allowed: false, retryAfterMs: 1 })
  expect(state.asked).toBe(1)
  state.now = 400
  expect(await gate.take('me')).toMatchObject({ allowed: true })
  expect(await gate.take('another')).toMatchObject({ allowed: true, remaining: 2 })
})

test('when JetStream can’t answer, a paid call goes on by the router’s own count, for a minute at most', async () => {
  const { gate, state } = gateOver(() => unknown, { ...three, windowMs: 20_000 })
  for (let n = 0; n < 3; n++) expect(await gate.take('me')).toMatchObject({ allowed: true, remaining: 2 - n })
  expect(await gate.take('me')).toMatchObject({ allowed: false, retryAfterMs: 20_000 })
  state.now = 60_000
  expect(await gate.take('me')).toMatchObject({ allowed: true })
  state.now = 60_001
  expect(gate.take('me')).rejects.toMatchObject({ code: 'service_unavailable' })
})

test('of a thousand calls at once JetStream is asked for no more places than there are', async () => {
  const { gate, state } = gateOver(() => taken)
  const seen = await Promise.all(Array.from({ length: 1_000 }, () => gate.take('me')))
  expect(seen.filter(({ allowed }) => allowed)).toHaveLength(3)
  expect(state.asked).toBe(3)
})

test('of those who waited, the first finds the place that somebody else’s failure left', async () => {
  const answers: Take[] = [taken, { status: 'full', retryAfterMs: 0 }, taken, taken]
  const { gate, state } = gateOver(n => answers[n] ?? { status: 'full', retryAfterMs: 500 })
  const seen = await Promise.all(Array.from({ length: 10 }, () => gate.take('me')))
  expect(seen.filter(({ allowed }) => allowed)).toHaveLength(3)
  expect(state.asked).toBe(4)
})

test('while JetStream does not answer, calls do not wait for it each on their own', async () => {
  const { gate, state } = gateOver(() => unknown)
  await gate.take('me')
  await gate.take('another')
  expect(state.asked).toBe(1)
  state.now = 250
  await gate.take('another')
  expect(state.asked).toBe(2)
})

test('once the limit has its stream again, JetStream is asked at once', async () => {
  const { gate, state } = gateOver(n => (n === 0 ? unknown : taken))
  await gate.take('me')
  await gate.take('another')
  expect(state.asked).toBe(1)
  await gate.ensure()
  await gate.take('a third')
  expect(state.asked).toBe(2)
})

test('sign-in does not go on without its limit', async () => {
  const { gate, state } = gateOver(() => taken, defaultLimits.nonce)
  state.connected = false
  expect(gate.take('me')).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(state.asked).toBe(0)
})

test('places taken before an outage still count in it', async () => {
  const { gate, state } = gateOver(() => taken)
  await gate.take('me')
  await gate.take('me')
  state.connected = false
  expect(await gate.take('me')).toMatchObject({ allowed: true, remaining: 0 })
  expect(await gate.take('me')).toMatchObject({ allowed: false })
})

test('the answer says when to come back, also when that is an hour', async () => {
  const decision = { allowed: false, limit: 10, remaining: 0, resetMs: 3_600_000, retryAfterMs: 3_000_001 }
  const answer = rateLimited(decision)
  expect(answer.status).toBe(429)
  expect(await answer.json()).toMatchObject({ error: { code: 'rate_limited' } })
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'retry-after': '3001',
    'x-ratelimit-limit-requests': '10',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '3600s',
  })
  const headers = new Headers()
  addLimitHeaders(headers, { ...decision, remaining: 4, resetMs: 10 })
  expect(headers.get('x-ratelimit-remaining-requests')).toBe('4')
  expect(headers.get('x-ratelimit-reset-requests')).toBe('1s')
})
