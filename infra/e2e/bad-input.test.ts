import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import nacl from 'tweetnacl'
import { type Credential, type ErrorAnswer, request } from './client/api.ts'
import type { Gateway } from './client/gateway.ts'
import { createKey, type SignedIn, signIn } from './client/sign-in.ts'
import { type RunningStack, stack } from './stack.ts'

/** Numbers raised so that a table can ask a hundred times; the limits have tests of their own. */
const LIMITS = JSON.stringify({
  chat: { count: 1_000 },
  nonce: { count: 1_000 },
  keys: { count: 1_000 },
  topup: { count: 1_000 },
  verify: { count: 1_000 },
})

let running: RunningStack
let gateway: Gateway
let me: SignedIn
let key: string

beforeAll(async () => {
  running = await stack({ env: { LIMITS } })
  gateway = running.gateway
  me = await signIn(gateway)
  key = (await createKey(gateway, me.cookie)).key
}, 120_000)
afterAll(() => running.stop())

/** status code, then the request. A body that is a string is sent as it stands. */
type Row = readonly [status: number, code: string, method: string, path: string, body?: unknown]

async function expectRows(credential: () => Credential, rows: readonly Row[]): Promise<void> {
  for (const [status, code, method, path, body] of rows) {
    const answer = await request<ErrorAnswer>(gateway, credential(), method, path, body)
    const label = `${method} ${path} ${JSON.stringify(body)?.slice(0, 80)}`
    expect({ label, status: answer.status, code: answer.body.error?.code }).toEqual({ label, status, code })
    expect(Object.keys(answer.body), label).toEqual(['error'])
    expect(Object.keys(answer.body.error).sort(), label).toEqual(['code', 'message'])
    expect(answer.headers.get('x-request-id'), label).toMatch(/^req_/)
  }
}

const messages = [{ role: 'user', content: 'hi' }]
const model = 'tollgate-sim'
const notJson: readonly unknown[] = ['', '{', 'null', '[]', '"text"', '12', '{"a":', '\u0000']

test('amounts of a top-up', async () => {
  const amounts = [
    '0.99',
    '1e3',
    'NaN',
    '-5',
    ' 10',
    `1.${'0'.repeat(29)}1`,
    '',
    '10,0',
    '0x10',
    'Infinity',
    '٣',
    '10 ',
    '+10',
    null,
    10,
    true,
    {},
    ['10'],
  ]
  const bad = (body: unknown): Row => [400, 'bad_request', 'POST', '/billing/topup', body]
  await expectRows(() => me, [...amounts.map(amount => bad({ amount })), bad({}), ...notJson.map(bad)])
})

test('references and signatures of a verify', async () => {
  const bad = (body: unknown): Row => [400, 'bad_request', 'POST', '/billing/verify', body]
  const unknown = Keypair.generate().publicKey.toBase58()
  await expectRows(
    () => me,
    [
      ...[{}, { reference: '' }, { reference: 1 }, { reference: '0OIl' }, { reference: 'x'.repeat(200) }].map(bad),
      bad({ reference: unknown, signature: 'not base58 !' }),
      bad({ reference: unknown, signature: 5 }),
      ...notJson.map(bad),
      [404, 'not_found', 'POST', '/billing/verify', { reference: unknown }],
    ],
  )
})

test('caps and names of a key', async () => {
  const bad = (body: unknown): Row => [400, 'bad_request', 'POST', '/keys', body]
  await expectRows(
    () => me,
    [
      ...[-1, 1.5, Number.MAX_SAFE_INTEGER + 1, '5', true, {}].map(spendCapMicro => bad({ spendCapMicro })),
      ...[-0.5, 0.0000001, '5', 1e300, []].map(spendCapUsd => bad({ spendCapUsd })),
      bad({ spendCapUsd: 1, spendCapMicro: 1_000_000 }),
      bad('{"spendCapUsd": 1e999}'),
      ...[1, null, {}, '', 'x'.repeat(500)].map(name => bad({ name })),
      ...notJson.filter(body => body !== '').map(bad),
    ],
  )
})

test('keys that are not there, or not mine', async () => {
  const other = await signIn(gateway)
  const foreign = await createKey(gateway, other.cookie)
  await expectRows(
    () => me,
    [
      [404, 'not_found', 'DELETE', `/keys/${foreign.id}`],
      [404, 'not_found', 'DELETE', '/keys/key_00000000000000000000000000000000'],
      [404, 'not_found', 'DELETE', '/keys/nonsense'],
      [404, 'not_found', 'DELETE', "/keys/'%20or%201=1"],
    ],
  )
  expect((await request(gateway, { key: foreign.key }, 'GET', '/keys')).status).toBe(200)
})

test('chat bodies', async () => {
  const bad = (body: unknown): Row => [400, 'bad_request', 'POST', '/v1/chat/completions', body]
  await expectRows(
    () => ({ key }),
    [
      bad({}),
      bad({ model }),
      bad({ messages }),
      ...[null, 'hi', {}, [], [1], [{}], [{ role: 'user' }], [{ role: 5, content: 'x' }]].map(messages =>
        bad({ model, messages }),
      ),
      ...[-1, 0, 1.5, '5', 1e12].map(max_tokens => bad({ model, messages, max_tokens })),
      ...[0, -1, 1.5, 'two', 1e9].map(n => bad({ model, messages, n })),
      bad({ model, messages, stream: 'true' }),
      bad({ model: ['a'], messages }),
      ...notJson.map(bad),
      [404, 'not_found', 'POST', '/v1/chat/completions', { model: 'no-such-model', messages }],
      [404, 'not_found', 'POST', '/v1/chat/completions', { model: '../../etc/passwd', messages }],
      [404, 'not_found', 'GET', '/v1/models/no-such-model'],
      [404, 'not_found', 'POST', '/v1/responses', { model, input: 'hi' }],
      [404, 'not_found', 'GET', '/'],
    ],
  )
})

test('addresses, signatures and nonces of a sign-in', async () => {
  const bad = (path: string, body: unknown): Row => [400, 'bad_request', 'POST', path, body]
  const address = Keypair.generate().publicKey.toBase58()
  const { body } = await request<{ nonce: string }>(gateway, null, 'POST', '/auth/nonce', { address })
  const signature = '1'.repeat(64)
  await expectRows(
    () => null,
    [
      ...['', '0OIl', 'x', '1'.repeat(31), `1${address}`, ` ${address}`, 5, null].map(address =>
        bad('/auth/nonce', { address }),
      ),
      bad('/auth/nonce', {}),
      ...notJson.map(body => bad('/auth/nonce', body)),
      ...notJson.map(body => bad('/auth/verify', body)),
      bad('/auth/verify', { address, nonce: body.nonce, signature: '0OIl' }),
      bad('/auth/verify', { address, nonce: body.nonce, signature: '1' }),
      [401, 'unauthorized', 'POST', '/auth/verify', { address, nonce: 'A'.repeat(22), signature }],
      [401, 'unauthorized', 'POST', '/auth/verify', { address, nonce: body.nonce, signature }],
    ],
  )
})

test('no credential, a bad one, and a bad key beside a good cookie', async () => {
  const paths: Row[] = [
    [401, 'unauthorized', 'GET', '/keys'],
    [401, 'unauthorized', 'POST', '/keys', {}],
    [401, 'unauthorized', 'POST', '/billing/topup', { amount: '10' }],
    [401, 'unauthorized', 'POST', '/billing/verify', { reference: 'x' }],
    [401, 'unauthorized', 'GET', '/billing/balance'],
    [401, 'unauthorized', 'GET', '/auth/me'],
    [401, 'unauthorized', 'POST', '/v1/chat/completions', { model, messages }],
  ]
  for (const credential of [
    null,
    { key: 'svc_live_wrong' },
    { key: `${key.slice(0, -1)}_` },
    { cookie: 'svc_session=nonsense' },
  ]) {
    await expectRows(() => credential, paths)
  }
  const both = await fetch(`${gateway.router}/keys`, {
    headers: { authorization: 'Bearer svc_live_bad', cookie: me.cookie },
  })
  expect(both.status).toBe(401)
})

test('a browser from another origin changes nothing', async () => {
  const post = (headers: Record<string, string>) =>
    fetch(`${gateway.router}/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{}',
    })
  const before = (await request<{ data: unknown[] }>(gateway, me, 'GET', '/keys')).body.data.length
  for (const origin of [
    'https://evil.example',
    'null',
    `${gateway.appOrigin}.evil.example`,
    'constructor',
    gateway.appOrigin.toUpperCase(),
  ]) {
    const answer = await post({ cookie: me.cookie, origin })
    expect(answer.status, origin).toBe(403)
    expect(((await answer.json()) as ErrorAnswer).error.code).toBe('forbidden')
    expect(answer.headers.get('access-control-allow-origin'), origin).toBeNull()
  }
  expect((await post({ cookie: me.cookie })).status).toBe(403)
  expect((await post({ authorization: `Bearer ${key}`, origin: 'https://evil.example' })).status).toBe(403)
  expect((await request<{ data: unknown[] }>(gateway, me, 'GET', '/keys')).body.data).toHaveLength(before)
})

test('a body is JSON whatever it is called', async () => {
  const types = [
    'APPLICATION/JSON',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    null,
  ]
  const { id } = await createKey(gateway, me.cookie)
  const address = Keypair.generate().publicKey.toBase58()
  for (const type of types) {
    const send = async (method: string, path: string, body: string) => {
      const answer = await fetch(gateway.router + path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(type && { 'content-type': type }) },
        body: Buffer.from(body),
      })
      return { type, status: answer.status, body: (await answer.json()) as { name?: string } }
    }
    const name = `named in ${type}`
    expect(await send('PATCH', `/keys/${id}`, JSON.stringify({ name }))).toMatchObject({
      type,
      status: 200,
      body: { name },
    })
    expect(await send('POST', '/keys', JSON.stringify({ name }))).toMatchObject({ type, status: 200, body: { name } })
    expect(await send('POST', '/billing/topup', '{"amount":"10"}')).toMatchObject({ type, status: 200 })
    expect(await send('POST', '/auth/nonce', JSON.stringify({ address }))).toMatchObject({ type, status: 200 })
    // No credits: the body was read.
    expect(await send('POST', '/v1/chat/completions', JSON.stringify({ model, messages }))).toMatchObject({
      status: 402,
    })
    expect(await send('PATCH', `/keys/${id}`, 'name=form')).toMatchObject({ type, status: 400 })
  }
})

test('JSON that is odd: prototypes, NUL, half characters, numbers beyond exactness, fields written twice', async () => {
  const bad = (path: string, body: string): Row => [400, 'bad_request', 'POST', path, body]
  await expectRows(
    () => me,
    [
      ...['{"__proto__":{"name":"x"}}', '{"constructor":{"prototype":{}}}', '{"toString":1}'].flatMap(body => [
        bad('/keys', body),
        bad('/billing/topup', body),
        bad('/auth/nonce', body),
      ]),
      ...['a\\u0000b', '\\ud800', 'a\\r\\nX-Evil: 1'].flatMap(text => [
        bad('/keys', `{"name":"${text}"}`),
        bad('/keys', `{"models":["${text}"]}`),
        bad('/billing/topup', `{"amount":"${text}"}`),
        bad('/billing/verify', `{"reference":"${text}"}`),
        bad('/auth/nonce', `{"address":"${text}"}`),
      ]),
      ...['1e999', '9007199254740993', '-1e-7'].map(number => bad('/keys', `{"spendCapMicro":${number}}`)),
      bad('/keys', '{"expiresAt":1e308}'),
      bad('/keys', '{"spendCapMicro":1,"spendCapMicro":"1"}'),
      bad('/billing/topup', '{"amount":"10","amount":"0"}'),
      bad('/billing/topup', `{"amount":"10","x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`),
    ],
  )
  const last = await request<{ name: string }>(gateway, me, 'POST', '/keys', '\ufeff{"name":"first","name":"last"}')
  expect(last).toMatchObject({ status: 200, body: { name: 'last' } })
})

test('ids and filters that no database takes', async () => {
  const odd = ['%00', '%', '%ff', '%ed%a0%80', '__proto__', 'constructor', '..%2fkeys', 'a%0d%0aX-Evil:%201']
  const paths: [method: string, path: (id: string) => string][] = [
    ['GET', id => `/v1/models/${id}`],
    ['DELETE', id => `/keys/${id}`],
    ['DELETE', id => `/auth/sessions/${id}`],
    ['GET', id => `/billing/intents/${id}`],
    ['POST', id => `/billing/intents/${id}/blockhash`],
    ['GET', id => `/billing/transactions?before=${id}`],
    ['GET', id => `/billing/usage?from=${id}`],
  ]
  for (const id of odd) {
    for (const [method, path] of paths) {
      const answer = await request<ErrorAnswer>(gateway, me, method, path(id))
      expect([400, 404], `${method} ${path(id)}`).toContain(answer.status)
      expect(answer.headers.get('x-evil')).toBeNull()
    }
  }
  await expectRows(
    () => me,
    [
      [400, 'bad_request', 'GET', '/billing/usage?model=%00'],
      [400, 'bad_request', 'GET', '/billing/usage?key=a%00b'],
      [400, 'bad_request', 'GET', '/billing/usage?__proto__=1'],
    ],
  )
})

test('line breaks in what a caller names reach no header and no line of a log', async () => {
  const evil = 'a\r\nX-Evil: 1\u0000{"level":"fatal"}'
  const answer = await request<ErrorAnswer>(gateway, { key }, 'POST', '/v1/chat/completions', {
    model: evil,
    messages,
    metadata: { evil },
    user: evil,
  })
  expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  expect(answer.headers.get('x-evil')).toBeNull()
  for (const service of ['router-1', 'metering-proxy-1']) {
    const lines = running.log(service).split('\n')
    expect(lines.filter(line => line.startsWith('X-Evil') || line.startsWith('{"level":"fatal"}'))).toEqual([])
  }
})

test('a sign-in gives a session of its own, whatever cookie the browser was given before', async () => {
  const planted = `svc_session=${'A'.repeat(43)}`
  const wallet = Keypair.generate()
  const address = wallet.publicKey.toBase58()
  const own = { headers: { origin: gateway.appOrigin, 'content-type': 'application/json', cookie: planted } }
  const post = (path: string, body: object) =>
    fetch(gateway.router + path, { method: 'POST', ...own, body: JSON.stringify(body) })
  const { nonce, message } = (await (await post('/auth/nonce', { address })).json()) as Record<string, string>
  const signature = bs58.encode(nacl.sign.detached(Buffer.from(message ?? ''), wallet.secretKey))
  const answer = await post('/auth/verify', { address, nonce, signature })
  expect(answer.status).toBe(200)
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  expect(cookie).toMatch(/^svc_session=.{43,}$/)
  expect(cookie).not.toBe(planted)
  expect((await request(gateway, { cookie }, 'GET', '/auth/me')).status).toBe(200)
  expect((await request(gateway, { cookie: planted }, 'GET', '/auth/me')).status).toBe(401)
})
