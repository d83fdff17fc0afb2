import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type ErrorAnswer, request } from './client/api.ts'
import type { Gateway } from './client/gateway.ts'
import { fund, pay, quote, topUp } from './client/pay.ts'
import { createKey, type SignedIn, signIn } from './client/sign-in.ts'
import { balanceOf } from './client/spend.ts'
import { eventually, type RunningStack, stack } from './stack.ts'

const LIMITS = JSON.stringify({ chat: { count: 100_000 } })
const STREAMS = 20
/** A hold outlives its proxy by this at most; shortened from a minute so that the test sees it end. */
const HOLD_TTL_MS = 12_000
/** That, and the sweeper's next round. */
const HOLD_BOUND_MS = HOLD_TTL_MS + 10_000
const services = ['router', 'auth', 'keys', 'billing', 'metering-proxy', 'ledger', 'chain-watcher']
/** Every code that interface.md lists and a fault may lead to; never an internal one, never HTML. */
const FAULT_CODES = new Set(['service_unavailable', 'upstream_error', 'internal_error'])

let running: RunningStack
let gateway: Gateway
let me: SignedIn
let key: string

beforeAll(async () => {
  running = await stack({ env: { LIMITS, HOLD_TTL_MS: String(HOLD_TTL_MS), EXTEND_EVERY_MS: '1000' } })
  gateway = running.gateway
  me = await signIn(gateway)
  await topUp(gateway, me, '20')
  key = (await createKey(gateway, me.cookie)).key
}, 120_000)
afterAll(() => running.stop())

type Outcome = { end: 'charged'; costMicro: number } | { end: 'refused'; code: string } | { end: 'cut' }

/** One streamed completion of about two seconds, and how it ended for its caller. */
async function streamed(): Promise<Outcome> {
  try {
    const response = await fetch(`${gateway.router}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: 'a long story' }],
        max_tokens: 200,
        stream: true,
        stream_options: { include_usage: true },
        sim: { tokens: 100, intervalMs: 20 },
      }),
    })
    const text = await response.text()
    if (response.status !== 200) return { end: 'refused', code: (JSON.parse(text) as ErrorAnswer).error.code }
    const events = text.split('\n\n').filter(event => event.startsWith('data: {'))
    const last = JSON.parse(events.at(-1)?.slice('data: '.length) ?? '{}')
    if (last.error) return { end: 'refused', code: last.error.code }
    if (!text.includes('data: [DONE]')) throw new Error(`a truncated stream that ended cleanly: ${text.slice(-200)}`)
    return { end: 'charged', costMicro: last.usage_ext.cost_micro }
  } catch (error) {
    if (error instanceof SyntaxError) throw error
    if (error instanceof Error && error.message.startsWith('a truncated')) throw error
    return { end: 'cut' }
  }
}

for (const service of services) {
  test(`kill -9 of ${service} while requests stream: it comes back, no money is lost or invented`, async () => {
    const before = await eventually(
      async () => {
        const balance = await balanceOf(gateway, key)
        return balance.heldMicro === 0 ? balance : null
      },
      { withinMs: HOLD_BOUND_MS },
    )

    const streams = Array.from({ length: STREAMS }, streamed)
    await Bun.sleep(600)
    const victim = running.pidOf(service)
    process.kill(victim, 'SIGKILL')
    const outcomes = await Promise.all(streams)

    await eventually(() => running.pidOf(service) !== victim, { withinMs: 10_000 })
    await eventually(async () => (await streamed()).end === 'charged', { withinMs: 15_000 })
    for (const outcome of outcomes) if (outcome.end === 'refused') expect(FAULT_CODES).toContain(outcome.code)
    // Only who holds the connection, or the one hop behind it, can cut a stream.
    if (service !== 'router' && service !== 'metering-proxy') {
      expect(outcomes.filter(({ end }) => end === 'cut')).toEqual([])
    }

    const after = await eventually(
      async () => {
        const balance = await balanceOf(gateway, key)
        return balance.heldMicro === 0 ? balance : null
      },
      { withinMs: HOLD_BOUND_MS, everyMs: 200 },
    )
    const known = outcomes.reduce((sum, outcome) => sum + (outcome.end === 'charged' ? outcome.costMicro : 0), 0)
    expect(before.creditsMicro - after.creditsMicro).toBeGreaterThanOrEqual(known)
    await running.audit()
  }, 240_000)
}

test('a payment is credited once, unasked, though billing and the watcher were killed as it was made', async () => {
  const before = await balanceOf(gateway, key)
  const intent = await quote(gateway, me.cookie, '5')
  await fund(gateway, me.wallet.publicKey, BigInt(intent.tokenAmountRaw))
  const paid = pay(gateway, me.wallet, intent)
  for (const service of ['billing', 'chain-watcher']) process.kill(running.pidOf(service), 'SIGKILL')
  await paid
  await eventually(async () => (await balanceOf(gateway, key)).creditsMicro - before.creditsMicro === 5_000_000, {
    withinMs: 30_000,
  })
  await running.audit()
}, 60_000)

test('the stack tells the new process of a killed service', async () => {
  const { services } = JSON.parse(readFileSync(running.gatewayFile, 'utf8')) as Gateway
  expect(Object.keys(services).sort()).toEqual(
    ['auth', 'billing', 'chain-watcher', 'keys', 'ledger', 'metering-proxy', 'router'].sort(),
  )
  expect((await request(gateway, null, 'GET', '/readyz')).status).toBe(200)
})
