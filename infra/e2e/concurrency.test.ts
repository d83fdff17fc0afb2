import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createConnection } from 'node:net'
import { type Answer, request } from './client/api.ts'
import type { Gateway } from './client/gateway.ts'
import { topUp } from './client/pay.ts'
import { createKey, signIn } from './client/sign-in.ts'
import { balanceOf } from './client/spend.ts'
import { anotherRouter, eventually, type RunningStack, stack } from './stack.ts'

const LIMITS = JSON.stringify({ chat: { count: 100_000 } })
const GATEWAYS = 3
const PAYS_FOR = 10
/** Long enough that every request of a burst is decided while the first are still running. */
const SLOW_MS = 4_000

interface Completion {
  usage_ext: { cost_micro: number }
}

let running: RunningStack
let gateway: Gateway
let more: Awaited<ReturnType<typeof anotherRouter>>[]

beforeAll(async () => {
  running = await stack({ env: { LIMITS }, scale: { 'metering-proxy': GATEWAYS } })
  gateway = running.gateway
  more = await Promise.all(Array.from({ length: GATEWAYS - 1 }, (_, index) => anotherRouter(running, index + 2)))
}, 120_000)
afterAll(async () => {
  await Promise.all(more.map(router => router.stop()))
  await running.stop()
})

/** The gateway as it is reached through the n-th of its routers. */
function through(n: number): Gateway {
  const url = more[(n % GATEWAYS) - 1]?.url
  return url ? { ...gateway, router: url } : gateway
}

function complete(key: string, maxTokens: number, firstMs = 0, to = gateway): Promise<Answer<Completion>> {
  return request<Completion>(to, { key }, 'POST', '/v1/chat/completions', {
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: maxTokens,
    sim: { firstMs, tokens: 5 },
  })
}

/** What one request of this limit holds while it runs: read from the balance, not computed by us. */
async function heldBy(key: string, maxTokens: number): Promise<number> {
  const answer = complete(key, maxTokens, 1_000)
  let held = 0
  while (held === 0) held = (await balanceOf(gateway, key)).heldMicro
  await answer
  return held
}

/** A limit whose worst case goes into the balance ten times and not eleven: the hold grows in a straight line with it. */
async function limitFor(key: string): Promise<{ maxTokens: number; worstMicro: number }> {
  const [few, many] = [await heldBy(key, 1_000), await heldBy(key, 5_000)]
  const { availableMicro } = await balanceOf(gateway, key)
  const perToken = (many - few) / 4_000
  const maxTokens = Math.floor((availableMicro / (PAYS_FOR + 0.5) - (few - 1_000 * perToken)) / perToken)
  return { maxTokens, worstMicro: await heldBy(key, maxTokens) }
}

async function burst(count: number): Promise<void> {
  const me = await signIn(gateway)
  await topUp(gateway, me, '1')
  const { key } = await createKey(gateway, me.cookie)
  const { maxTokens, worstMicro } = await limitFor(key)
  const before = await balanceOf(gateway, key)
  expect(Math.floor(before.availableMicro / worstMicro)).toBe(PAYS_FOR)

  let finished = false
  const heldSeen: number[] = []
  const watching = (async () => {
    while (!finished) {
      heldSeen.push((await balanceOf(gateway, key)).heldMicro)
      await Bun.sleep(10)
    }
  })()
  const answers = await Promise.all(
    Array.from({ length: count }, (_, n) => complete(key, maxTokens, SLOW_MS, through(n))),
  )
  finished = true
  await watching

  const served = answers.filter(({ status }) => status === 200)
  expect(served).toHaveLength(PAYS_FOR)
  expect(answers.filter(({ status }) => status === 402)).toHaveLength(count - PAYS_FOR)
  expect(Math.max(...heldSeen)).toBe(PAYS_FOR * worstMicro)
  const charged = served.reduce((sum, { body }) => sum + body.usage_ext.cost_micro, 0)
  const after = await balanceOf(gateway, key)
  expect(after).toMatchObject({ creditsMicro: before.creditsMicro - charged, heldMicro: 0 })
  await running.audit()
}

test(
  '50 concurrent completions on a balance for 10 worst cases: 10 run, 40 are 402, the charges are the drop',
  () => burst(50),
  60_000,
)

test('the same with 1,000 through three routers and three proxies', () => burst(1_000), 90_000)

/** A stream over a connection of its own; `fetch` would queue what is beyond its own limit. */
function openStream(to: Gateway, key: string, sim: object) {
  const { hostname, port } = new URL(to.router)
  const body = JSON.stringify({
    model: 'tollgate-sim',
    messages: [{ role: 'user', content: 'hi' }],
    max_tokens: 20,
    stream: true,
    sim,
  })
  const socket = createConnection({ host: hostname, port: Number(port) })
  let heard = ''
  const closed = Promise.withResolvers<string>()
  socket.on('data', chunk => {
    heard += chunk
  })
  socket.on('error', () => undefined)
  socket.on('close', () => closed.resolve(heard))
  socket.setTimeout(20_000, () => socket.destroy())
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  return { hasBegun: () => heard.includes('data: '), closed: closed.promise, leave: () => socket.destroy() }
}

test('320 streams at once, more than Bun’s fetch sends by default, all begin before any ends', async () => {
  const me = await signIn(gateway)
  await topUp(gateway, me, '1')
  const { key } = await createKey(gateway, me.cookie)
  const streams = Array.from({ length: 320 }, () => openStream(through(0), key, { tokens: 10, intervalMs: 300 }))
  let ended = 0
  for (const { closed } of streams) void closed.then(() => ended++)
  await eventually(() => streams.every(stream => stream.hasBegun()), { withinMs: 10_000, everyMs: 20 })
  expect(ended).toBe(0)
  const texts = await Promise.all(streams.map(({ closed }) => closed))
  expect(texts.filter(text => !text.startsWith('HTTP/1.1 200') || !text.includes('data: [DONE]'))).toEqual([])
  const charged = texts.reduce((sum, text) => sum + Number(/"cost_micro":(\d+)/.exec(text)?.[1]), 0)
  expect(await balanceOf(gateway, key)).toMatchObject({ creditsMicro: 1_000_000 - charged, heldMicro: 0 })
}, 40_000)

test('a key that is revoked in the middle of a stream ends no stream and begins none', async () => {
  const me = await signIn(gateway)
  await topUp(gateway, me, '1')
  const [{ key, id }, other] = [await createKey(gateway, me.cookie), await createKey(gateway, me.cookie)]
  const stream = openStream(gateway, key, { tokens: 10, intervalMs: 50 })
  await eventually(() => stream.hasBegun(), { everyMs: 5 })
  expect((await request(gateway, me, 'DELETE', `/keys/${id}`)).status).toBe(200)
  for (let n = 0; n < GATEWAYS; n++) {
    await eventually(async () => (await complete(key, 5, 0, through(n))).status === 401, {
      withinMs: 1_000,
      everyMs: 5,
    })
  }
  const text = await stream.closed
  expect(text).toContain('data: [DONE]')
  const charged = Number(/"cost_micro":(\d+)/.exec(text)?.[1])
  expect(charged).toBeGreaterThan(0)
  expect(await balanceOf(gateway, other.key)).toMatchObject({ creditsMicro: 1_000_000 - charged, heldMicro: 0 })
})

test('spending, leaving, paying and revoking at once: the balance is what came in less what was charged', async () => {
  const me = await signIn(gateway)
  await topUp(gateway, me, '1')
  const keys = await Promise.all(Array.from({ length: 4 }, () => createKey(gateway, me.cookie)))
  const [kept] = keys
  if (!kept) throw new Error('there are keys')
  const spending = keys.flatMap(({ key }) =>
    Array.from({ length: 15 }, (_, n) => complete(key, 20, (n % 5) * 20, through(n))),
  )
  const leaving = Array.from({ length: 10 }, (_, n) => openStream(through(n), kept.key, { tokens: 20, intervalMs: 30 }))
  const paying = topUp(gateway, me, '2')
  const revoking = Promise.all(keys.slice(1).map(({ id }) => request(gateway, me, 'DELETE', `/keys/${id}`)))
  await eventually(() => leaving.every(stream => stream.hasBegun()), { everyMs: 5 })
  for (const stream of leaving) stream.leave()
  const answers = await Promise.all(spending)
  expect(answers.filter(({ status }) => status !== 200 && status !== 401)).toEqual([])
  expect((await revoking).map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await paying).creditsMicro).toBe(2_000_000)
  const after = await eventually(
    async () => {
      const balance = await balanceOf(gateway, kept.key)
      return balance.heldMicro === 0 && balance
    },
    { withinMs: 10_000 },
  )
  const { data } = (
    await request<{ data: { kind: string; amountMicro: number }[] }>(
      gateway,
      me,
      'GET',
      '/billing/transactions?limit=100',
    )
  ).body
  const charges = data.filter(({ kind }) => kind === 'charge')
  const served = answers.filter(({ status }) => status === 200)
  expect(charges).toHaveLength(served.length + leaving.length)
  expect(after.creditsMicro).toBe(3_000_000 + charges.reduce((sum, { amountMicro }) => sum + amountMicro, 0))
  const told = served.map(({ body }) => -body.usage_ext.cost_micro)
  for (const micro of told) expect(charges.map(({ amountMicro }) => amountMicro)).toContain(micro)
  await running.audit()
}, 40_000)
