import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ErrorAnswer, request } from './client/api.ts'
import type { Gateway } from './client/gateway.ts'
import { createKey, signIn } from './client/sign-in.ts'
import { type RunningStack, stack } from './stack.ts'

/** The counts of interface.md; the chat window is shortened so that it can be seen to slide. */
const CHAT_WINDOW_MS = 4_000

let running: RunningStack
let gateway: Gateway

beforeAll(async () => {
  running = await stack({
    env: { LIMITS: JSON.stringify({ chat: { windowMs: CHAT_WINDOW_MS }, nonce: { count: 200 } }) },
  })
  gateway = running.gateway
}, 120_000)
afterAll(() => running.stop())

async function statuses(count: number, call: () => Promise<{ status: number }>): Promise<number[]> {
  const seen: number[] = []
  for (let n = 0; n < count; n++) seen.push((await call()).status)
  return seen
}

test('of 61 completions in a window the 61st is 429 with retry-after, and they pass again as the window slides', async () => {
  const { cookie } = await signIn(gateway)
  const { key } = await createKey(gateway, cookie)
  const chat = () =>
    request<ErrorAnswer>(gateway, { key }, 'POST', '/v1/chat/completions', { model: 'tollgate-sim', messages: [] })
  const started = performance.now()
  const first = await statuses(60, chat)
  expect(first.filter(status => status === 429)).toEqual([])
  const refused = await chat()
  expect(performance.now() - started).toBeLessThan(CHAT_WINDOW_MS)
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, CHAT_WINDOW_MS / 1_000 + 1)
  await Bun.sleep(started + CHAT_WINDOW_MS + 100 - performance.now())
  expect((await chat()).status).not.toBe(429)
}, 20_000)

test('a burst of 200 parallel completions lets exactly 60 through', async () => {
  const { cookie } = await signIn(gateway)
  const { key } = await createKey(gateway, cookie)
  const answers = await Promise.all(
    Array.from({ length: 200 }, () =>
      request(gateway, { key }, 'POST', '/v1/chat/completions', { model: 'tollgate-sim', messages: [] }),
    ),
  )
  expect(answers.filter(({ status }) => status !== 429)).toHaveLength(60)
}, 20_000)

test('a limit counts the user: a second key and the session share it', async () => {
  const { cookie } = await signIn(gateway)
  const { key } = await createKey(gateway, cookie)
  const topup = (credential: { key: string } | { cookie: string }) =>
    request(gateway, credential, 'POST', '/billing/topup', { amount: '0.5' })
  expect(await statuses(5, () => topup({ key }))).toEqual(Array(5).fill(400))
  expect(await statuses(6, () => topup({ cookie }))).toEqual([400, 400, 400, 400, 400, 429])
})

test('the other limits hold at their edges: 10 keys an hour, 20 verifies a minute', async () => {
  const { cookie } = await signIn(gateway)
  expect(await statuses(11, () => request(gateway, { cookie }, 'POST', '/keys', {}))).toEqual([
    ...Array(10).fill(200),
    429,
  ])
  const verify = () => request(gateway, { cookie }, 'POST', '/billing/verify', { reference: '1'.repeat(32) })
  expect(await statuses(21, verify)).toEqual([...Array(20).fill(404), 429])
}, 20_000)
