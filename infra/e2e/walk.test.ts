import { afterAll, beforeAll, expect, test } from 'bun:test'
import { APIError } from 'openai'
import { type ErrorAnswer, request } from './client/api.ts'
import type { Gateway } from './client/gateway.ts'
import { fund, type Intent, pay, quote } from './client/pay.ts'
import { createKey, type SignedIn, signIn, type User } from './client/sign-in.ts'
import { balanceOf, formulaMicro, modelNamed, openai, type PricedModel } from './client/spend.ts'
import { type RunningStack, stack } from './stack.ts'

const MODEL = 'tollgate-sim'
const messages = [{ role: 'user' as const, content: 'Say something about prepaid gateways.' }]

let running: RunningStack
let gateway: Gateway
let me: SignedIn
let key: string
let keyId: string
let intent: Intent
let signature: string
let model: PricedModel

beforeAll(async () => {
  running = await stack()
  gateway = running.gateway
  model = await modelNamed(gateway, MODEL)
}, 120_000)
afterAll(() => running.stop())

test('a wallet signs in and gets the cookie as interface.md describes it', async () => {
  me = await signIn(gateway)
  expect(me.user).toMatchObject({
    wallet: me.wallet.publicKey.toBase58(),
    tier: 'standard',
    tierLabel: 'Standard',
    creditsMicro: 0,
    creditsUsd: 0,
    tokenBalance: 0,
  })
  expect(me.setCookie).toMatch(/^svc_session=[^;]+;/)
  for (const attribute of ['HttpOnly', 'Secure', 'SameSite=None']) expect(me.setCookie).toContain(attribute)
  const { body } = await request<{ user: User }>(gateway, me, 'GET', '/auth/me')
  expect(body.user.id).toBe(me.user.id)
})

test('it creates a key, which is shown once', async () => {
  const created = await createKey(gateway, me.cookie, { name: 'first' })
  key = created.key
  keyId = created.id
  expect(key).toMatch(/^svc_live_[0-9A-Za-z]+$/)
  expect(created).toMatchObject({ name: 'first', prefix: 'svc_live', last4: key.slice(-4) })
  const { body } = await request<{ canCreate: boolean; data: object[] }>(gateway, { key }, 'GET', '/keys')
  expect(body.canCreate).toBe(true)
  expect(body.data).toHaveLength(1)
  expect(body.data[0]).toMatchObject({ id: keyId, name: 'first', prefix: 'svc_live', last4: created.last4 })
  expect(JSON.stringify(body)).not.toContain(key)
})

test('without credits a completion is refused with 402 insufficient_credits', async () => {
  const refused = openai(gateway, key).chat.completions.create({ model: MODEL, messages, max_tokens: 50 })
  const error = await refused.then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(APIError)
  expect(error).toMatchObject({ status: 402, code: 'insufficient_credits' })
})

test('a top-up of "10" is quoted in the payment token', async () => {
  intent = await quote(gateway, me.cookie, '10')
  expect(intent).toMatchObject({
    mint: gateway.chain.mint,
    recipient: gateway.chain.treasury,
    decimals: gateway.chain.decimals,
  })
  expect(intent.url).toBe(
    `solana:${intent.recipient}?spl-token=${intent.mint}&amount=${intent.tokenAmount}&reference=${intent.reference}`,
  )
  expect(Number(intent.tokenAmount) * 10 ** intent.decimals).toBe(Number(intent.tokenAmountRaw))
  expect(Number(intent.tokenAmountRaw)).toBe(Math.ceil((10 / intent.price) * 10 ** intent.decimals))
  expect(intent.expiresAt - Date.now()).toBeWithin(14 * 60_000, 15 * 60_000 + 1)
})

test('before the payment there is nothing to verify', async () => {
  const answer = await request<ErrorAnswer>(gateway, me, 'POST', '/billing/verify', { reference: intent.reference })
  expect(answer.status).toBe(404)
  expect(answer.body.error.code).toBe('not_found')
  expect(answer.headers.get('retry-after')).not.toBeNull()
})

test('the exact transfer with the reference credits exactly 10000000', async () => {
  await fund(gateway, me.wallet.publicKey, BigInt(intent.tokenAmountRaw) * 3n)
  signature = await pay(gateway, me.wallet, intent)
  const { reference } = intent
  const answer = await request<{ ok: boolean; creditsMicro: number; user: User }>(
    gateway,
    me,
    'POST',
    '/billing/verify',
    {
      reference,
      signature,
    },
  )
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({ ok: true, creditsMicro: 10_000_000 })
  expect(answer.body.user).toMatchObject({ id: me.user.id, creditsMicro: 10_000_000, creditsUsd: 10 })
  expect(await balanceOf(gateway, key)).toEqual({
    creditsMicro: 10_000_000,
    heldMicro: 0,
    availableMicro: 10_000_000,
    creditsUsd: 10,
  })
}, 20_000)

test('a plain and a streamed completion are charged by the formula, and the balance falls by exactly their sum', async () => {
  const client = openai(gateway, key)
  const plain = await client.chat.completions.create({ model: MODEL, messages, max_tokens: 40 })
  if (!plain.usage) throw new Error('no usage')
  expect(plain.choices[0]?.message.content?.length).toBeGreaterThan(0)
  const plainCost = costOf(plain)
  expect(plainCost).toBe(formulaMicro(plain.usage, model))
  expect((await balanceOf(gateway, key)).creditsMicro).toBe(10_000_000 - plainCost)

  const stream = await client.chat.completions.create({
    model: MODEL,
    messages,
    max_tokens: 40,
    stream: true,
    stream_options: { include_usage: true },
  })
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  const last = chunks.at(-1)
  if (!last?.usage) throw new Error('no usage in the last chunk')
  expect(chunks.length).toBeGreaterThan(3)
  const streamCost = costOf(last)
  expect(streamCost).toBe(formulaMicro(last.usage, model))
  expect(await balanceOf(gateway, key)).toMatchObject({
    creditsMicro: 10_000_000 - plainCost - streamCost,
    heldMicro: 0,
  })
}, 20_000)

test('the session cookie spends from the same account, and a stream without include_usage still says its cost', async () => {
  const before = (await balanceOf(gateway, key)).creditsMicro
  const response = await fetch(`${gateway.router}/v1/chat/completions`, {
    method: 'POST',
    headers: { cookie: me.cookie, origin: gateway.appOrigin, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, messages, max_tokens: 20, stream: true }),
  })
  expect(response.headers.get('content-type')).toStartWith('text/event-stream')
  const lines = (await response.text()).split('\n').filter(line => line.startsWith('data: '))
  expect(lines.at(-1)).toBe('data: [DONE]')
  const events = lines.slice(0, -1).map(line => JSON.parse(line.slice('data: '.length)))
  expect(events.every(event => event.choices.length > 0)).toBe(true)
  expect(events.at(-1).choices[0].finish_reason).not.toBeNull()
  expect(events.at(-1).usage_ext.cost_micro).toBe(before - (await balanceOf(gateway, key)).creditsMicro)
}, 20_000)

test('the same signature on a second intent is refused', async () => {
  const second = await quote(gateway, me.cookie, '10')
  const replayed = await request<ErrorAnswer>(gateway, me, 'POST', '/billing/verify', {
    reference: second.reference,
    signature,
  })
  expect(replayed).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
  const again = await request<ErrorAnswer>(gateway, me, 'POST', '/billing/verify', {
    reference: intent.reference,
    signature,
  })
  expect(again).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
})

test('a capped key stops at its cap with 402', async () => {
  const capped = await createKey(gateway, me.cookie, { name: 'capped', spendCapMicro: 300 })
  const client = openai(gateway, capped.key)
  let spent = 0
  let refusal: unknown = null
  for (let n = 0; n < 100 && !refusal; n++) {
    await client.chat.completions.create({ model: MODEL, messages, max_tokens: 20 }).then(
      answer => {
        spent += costOf(answer)
      },
      (error: unknown) => {
        refusal = error
      },
    )
  }
  expect(refusal).toMatchObject({ status: 402, code: 'insufficient_credits' })
  expect(spent).toBeWithin(1, 301)
}, 20_000)

test('a revoked key gets 401 at once', async () => {
  const { key, id } = await createKey(gateway, me.cookie)
  expect((await request(gateway, { key }, 'GET', '/billing/balance')).status).toBe(200)
  expect(await request(gateway, me, 'DELETE', `/keys/${id}`)).toMatchObject({ status: 200, body: { ok: true } })
  expect(await request(gateway, { key }, 'GET', '/billing/balance')).toMatchObject({
    status: 401,
    body: { error: { code: 'unauthorized' } },
  })
  expect((await request(gateway, { key }, 'POST', '/v1/chat/completions', { model: MODEL, messages })).status).toBe(401)
})

test('logout ends the session', async () => {
  expect((await request(gateway, me, 'POST', '/auth/logout')).status).toBe(200)
  expect(await request(gateway, me, 'GET', '/keys')).toMatchObject({
    status: 401,
    body: { error: { code: 'unauthorized' } },
  })
  expect((await request(gateway, { key }, 'GET', '/keys')).status).toBe(200)
})

function costOf(answer: object): number {
  // The SDK passes fields on that its types don't know.
  return (answer as { usage_ext: { cost_micro: number } }).usage_ext.cost_micro
}
