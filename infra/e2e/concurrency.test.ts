import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Answer, request } from './client/api.ts'
import type { Gateway } from './client/gateway.ts'
import { topUp } from './client/pay.ts'
import { createKey, signIn } from './client/sign-in.ts'
import { balanceOf } from './client/spend.ts'
import { type RunningStack, stack } from './stack.ts'

const LIMITS = JSON.stringify({ chat: { count: 100_000 } })
const PAYS_FOR = 10
/** Long enough that every request of a burst is decided while the first are still running. */
const SLOW_MS = 4_000

interface Completion {
  usage_ext: { cost_micro: number }
}

let running: RunningStack
let gateway: Gateway

beforeAll(async () => {
  running = await stack({ env: { LIMITS } })
  gateway = running.gateway
}, 120_000)
afterAll(() => running.stop())

function complete(key: string, maxTokens: number, firstMs = 0): Promise<Answer<Completion>> {
  return request<Completion>(gateway, { key }, 'POST', '/v1/chat/completions', {
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
  const answers = await Promise.all(Array.from({ length: count }, () => complete(key, maxTokens, SLOW_MS)))
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

test('the same with 1,000', () => burst(1_000), 90_000)
