import { expect, test } from 'bun:test'
import { eventually } from '@tollgate/testing'
import type { RouterProcess } from './test/router-process.ts'
import { startWorld } from './test/world.ts'

const chat = (router: RouterProcess | undefined, bearer: string) =>
  fetch(`${router?.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: bearer, 'content-type': 'application/json' },
    body: '{}',
  })

async function statuses(calls: Promise<Response>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (const { status } of await Promise.all(calls)) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

test('3 routers, 1,000 parallel calls of one user over his keys and session: exactly 60 pass', async () => {
  await using world = await startWorld({ routers: 3 })
  const key = world.key()
  const second = world.key({ user: key.user, account: key.account })
  const calls = Array.from({ length: 1_000 }, (_, n) => chat(world.routers[n % 3], n % 2 ? key.bearer : second.bearer))
  expect(await statuses(calls)).toEqual({ 200: 60, 429: 940 })
  expect(world.backend.seen).toHaveLength(60)
  const refused = await chat(world.router, key.bearer)
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } })
  // Others are not touched by it.
  expect((await chat(world.router, world.key().bearer)).status).toBe(200)
}, 30_000)

test('the 60th passes, the 61st is 429, and calls pass again as the window slides', async () => {
  const windowMs = 2_000
  await using world = await startWorld({ env: { LIMITS: `{"chat":{"windowMs":${windowMs}}}` } })
  const { bearer } = world.key()
  const startedAt = performance.now()
  const seen: number[] = []
  for (let n = 1; n <= 61; n++) {
    const answer = await chat(world.router, bearer)
    seen.push(answer.status)
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('60')
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe(String(Math.max(0, 60 - n)))
  }
  expect(performance.now() - startedAt).toBeLessThan(windowMs)
  expect(seen).toEqual([...Array<number>(60).fill(200), 429])
  await eventually(async () => (await chat(world.router, bearer)).status === 200, {
    everyMs: 5,
    withinMs: windowMs + 1_000,
  })
  // The first place was taken after `startedAt` and is given back a window later, not sooner.
  expect(performance.now() - startedAt).toBeWithin(windowMs, windowMs + 1_000)
}, 30_000)

test('bursts just before and just after the window’s edge, over 3 routers: no window ever holds a 61st call', async () => {
  const [windowMs, count] = [1_500, 60]
  await using world = await startWorld({ routers: 3, env: { LIMITS: `{"chat":{"windowMs":${windowMs}}}` } })
  const { bearer } = world.key()
  const sent: number[] = []
  const answered: number[] = []
  const burst = () =>
    Promise.all(
      Array.from({ length: 2 * count }, async (_, n) => {
        const sentAt = performance.now()
        const { status } = await chat(world.routers[n % 3], bearer)
        if (status !== 200) return
        sent.push(sentAt)
        answered.push(performance.now())
      }),
    )
  const startedAt = performance.now()
  await burst()
  expect(sent).toHaveLength(count)
  for (const beforeEdgeMs of [100, 5, 1, -1, -5, -100]) {
    await Bun.sleep(Math.max(0, startedAt + windowMs - beforeEdgeMs - performance.now()))
    await burst()
  }
  expect(sent.length).toBeGreaterThan(count)
  // A place is taken between a call's sending and its answer, so the n-th is not before the n-th sending nor after the n-th answer.
  sent.sort((one, other) => one - other)
  answered.sort((one, other) => one - other)
  const spans = sent.slice(0, -count).map((sentAt, n) => (answered[n + count] ?? 0) - sentAt)
  expect(Math.min(...spans)).toBeGreaterThanOrEqual(windowMs)
}, 30_000)

test('nats-server restarted in the middle of a flood: limits are back within a second, and no answer is unlisted', async () => {
  await using world = await startWorld({ routers: 2 })
  const flooder = world.key()
  const seen = new Set<number>()
  let flooding = true
  const askOnAndOn = async (_: unknown, n: number) => {
    while (flooding) seen.add((await chat(world.routers[n % 2], flooder.bearer)).status)
  }
  const flood = Promise.all(Array.from({ length: 20 }, askOnAndOn))
  // Awaited below: what fails before then should be told, and not that the flood broke off with it.
  flood.catch(() => undefined)
  await eventually(() => seen.has(429))
  await world.nats.kill9()
  await eventually(() => seen.has(503) || seen.has(429))
  await world.nats.restart()
  const backAt = performance.now()
  // Each router finds its own way back; until then it counts alone. A new user each time: JetStream has to count him.
  const isExact = async () => {
    const { bearer } = world.key()
    const counts = await statuses(Array.from({ length: 200 }, (_, n) => chat(world.routers[n % 2], bearer)))
    return counts[200] === 60 && counts[429] === 140
  }
  await eventually(isExact, { everyMs: 5 })
  expect(performance.now() - backAt).toBeLessThan(1_000)
  // And stay so, flood or not.
  for (let user = 0; user < 5; user++) expect(await isExact()).toBe(true)
  flooding = false
  await flood
  expect([...seen].every(status => [200, 429, 503].includes(status))).toBe(true)
}, 60_000)

test('sign-in is limited by address, whatever the headers say, and refused while limits can’t be known', async () => {
  await using world = await startWorld({ env: { LIMITS: '{"nonce":{"count":5}}' } })
  const nonce = (n: number) =>
    fetch(`${world.router.url}/auth/nonce`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': `203.0.113.${n}`,
        'x-real-ip': `203.0.113.${n}`,
        forwarded: `for=203.0.113.${n}`,
      },
      body: '{}',
    })
  expect(await statuses(Array.from({ length: 20 }, (_, n) => nonce(n)))).toEqual({ 200: 5, 429: 15 })
  await world.nats.kill9()
  expect((await nonce(1)).status).toBeOneOf([429, 503])
}, 30_000)

test('behind a proxy of ours each client is counted by the address that the proxy saw', async () => {
  await using world = await startWorld({ env: { LIMITS: '{"nonce":{"count":2}}', TRUSTED_PROXIES: '1' } })
  const nonce = (forwardedFor: string) =>
    fetch(`${world.router.url}/auth/nonce`, {
      method: 'POST',
      headers: { 'x-forwarded-for': forwardedFor },
      body: '{}',
    })
  const calls = [
    '1.1.1.1, 203.0.113.1',
    '2.2.2.2, 203.0.113.1',
    '203.0.113.1',
    '203.0.113.2',
    '2001:db8:1:1::1',
    '2001:db8:1:1::2',
    '2001:db8:1:1::3',
  ]
  const seen: number[] = []
  for (const forwardedFor of calls) seen.push((await nonce(forwardedFor)).status)
  expect(seen).toEqual([200, 200, 429, 200, 200, 200, 429])
}, 30_000)
