import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Schema, Validator } from '@cfworker/json-schema'
import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import nacl from 'tweetnacl'
import { type Credential, request } from './client/api.ts'
import type { Gateway } from './client/gateway.ts'
import { fund, type Intent, pay } from './client/pay.ts'
import { createKey, type SignedIn, signIn } from './client/sign-in.ts'
import { type RunningStack, stack } from './stack.ts'

interface Described {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, { schema: Schema }> }> }>>
  components: { schemas: { Error: Schema } }
}

let running: RunningStack
let gateway: Gateway
let described: Described
const called = new Set<string>()

beforeAll(async () => {
  running = await stack()
  gateway = running.gateway
  described = (await request<Described>(gateway, null, 'GET', '/openapi.json')).body
}, 120_000)
afterAll(() => running.stop())

/** Calls an operation as the document has it, and holds the answer against the schema that the document gives. */
async function call(
  credential: Credential,
  operation: string,
  { at, body }: { at?: string; body?: unknown } = {},
): Promise<Record<string, unknown>> {
  const [method = '', path = ''] = operation.split(' ')
  const schema = described.paths[path]?.[method.toLowerCase()]?.responses['200']?.content?.['application/json']?.schema
  if (!schema) throw new Error(`${operation} is not described`)
  const answer = await request(gateway, credential, method, path.replace(/\{\w+\}/, at ?? ''), body)
  expect({ operation, status: answer.status, body: answer.body }).toMatchObject({ operation, status: 200 })
  expect({ operation, errors: new Validator(schema, '2020-12').validate(answer.body).errors }).toEqual({
    operation,
    errors: [],
  })
  called.add(operation)
  return answer.body as Record<string, unknown> // its schema was just checked
}

/** The stack’s own catalogue has no embedding model; metering-proxy tests what it answers. */
const notCallable = new Set(['POST /v1/embeddings'])
const messages = [{ role: 'user', content: 'hi' }]

/** Signs in by hand, so that these two answers are held against the document as well. */
async function describedSignIn(): Promise<Keypair> {
  const wallet = Keypair.generate()
  const address = wallet.publicKey.toBase58()
  const { nonce, message } = await call(null, 'POST /auth/nonce', { body: { address } })
  const signature = bs58.encode(nacl.sign.detached(new TextEncoder().encode(String(message)), wallet.secretKey))
  await call(null, 'POST /auth/verify', { body: { address, signature, nonce } })
  return wallet
}

async function asSignedIn(me: SignedIn): Promise<void> {
  await call(me, 'GET /auth/me')
  await call(me, 'GET /auth/sessions')
  const created = await call(me, 'POST /keys', { body: { name: 'one', spendCapUsd: 5 } })
  const at = String(created.id)
  await call(me, 'PATCH /keys/{id}', { at, body: { name: 'renamed' } })
  await call(me, 'POST /keys/{id}/roll', { at, body: { graceSeconds: 60 } })
  await call(me, 'GET /keys')
  await call(me, 'DELETE /keys/{id}', { at })
}

async function asPayer(me: SignedIn): Promise<void> {
  // Its schema was just checked.
  const intent = (await call(me, 'POST /billing/topup', { body: { amount: '10' } })).intent as Intent
  const { reference } = intent
  await call(me, 'POST /billing/intents/{reference}/blockhash', { at: reference })
  await fund(gateway, me.wallet.publicKey, BigInt(intent.tokenAmountRaw))
  const signature = await pay(gateway, me.wallet, intent)
  await call(me, 'POST /billing/verify', { body: { reference, signature } })
  const list = await call(me, 'GET /billing/intents')
  expect(JSON.stringify(list)).toContain(reference)
  await call(me, 'GET /billing/intents/{reference}', { at: reference })
  await call(me, 'GET /billing/balance')
}

async function asSpender(me: SignedIn): Promise<void> {
  const { key } = await createKey(gateway, me.cookie)
  const models = (await call({ key }, 'GET /v1/models')).data as { id: string }[] // its schema was just checked
  for (const { id } of models) await call({ key }, 'GET /v1/models/{id}', { at: encodeURIComponent(id) })
  await call({ key }, 'POST /v1/chat/completions', { body: { model: 'tollgate-sim', messages, max_tokens: 20 } })
  await call({ key }, 'GET /billing/transactions')
  await call({ key }, 'GET /billing/usage')
}

test('every answer is as /openapi.json says, for the caller who signs in, pays and spends', async () => {
  const me = await signIn(gateway, await describedSignIn())
  await asSignedIn(me)
  await asPayer(me)
  await asSpender(me)
  const other = await signIn(gateway, me.wallet)
  const sessions = (await call(other, 'GET /auth/sessions')).data as { id: string; current: boolean }[] // as above
  await call(other, 'DELETE /auth/sessions/{id}', { at: sessions.find(({ current }) => !current)?.id ?? '' })
  await call(other, 'DELETE /auth/sessions')
  await call(await signIn(gateway, me.wallet), 'POST /auth/logout')
}, 60_000)

test('no endpoint is described that was not called', () => {
  const all = Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  expect(all.filter(operation => !called.has(operation) && !notCallable.has(operation))).toEqual([])
})

test('every error is the one error of the document', async () => {
  const validator = new Validator(described.components.schemas.Error, '2020-12')
  for (const [path, methods] of Object.entries(described.paths)) {
    for (const method of Object.keys(methods)) {
      const at = path.replace(/\{\w+\}/, 'nothing')
      const answer = await request(
        gateway,
        { key: 'svc_live_bad' },
        method.toUpperCase(),
        at,
        method === 'get' ? undefined : '{',
      )
      if (answer.status === 200) continue
      expect(validator.validate(answer.body).errors, `${method} ${path}`).toEqual([])
      expect(Object.keys(methods[method]?.responses ?? {}), `${method} ${path}`).toContain(String(answer.status))
    }
  }
})

test('the page stands alone', async () => {
  const answer = await fetch(`${gateway.router}/docs`)
  expect(answer.headers.get('content-type')).toContain('text/html')
  expect(await answer.text()).not.toMatch(/<script|https?:\/\//)
})
