import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { raw } from './test/raw.ts'
import { APP_ORIGIN, startWorld, type World } from './test/world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld({ env: { LIMITS: '{"nonce":{"count":100000},"topup":{"count":1}}' } })
}, 30_000)
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => world.backend.reset())

/** Each of them is not the listed origin, however near. */
const hostile = [
  'https://evil.example',
  'https://app.example.evil.com',
  'https://evil-app.example',
  'https://app.example.',
  'http://app.example',
  'https://app.example:8443',
  'https://APP.example',
  'https://app.example/',
  'https://app.example https://evil.example',
  'https://app.example, https://evil.example',
  'https://[::1]',
  'https://xn--pp-lga.example',
  'null',
  'constructor',
  'toString',
  '__proto__',
  '*',
  'file://',
  'app.example',
]

const post = (path: string, headers: Record<string, string>) =>
  fetch(world.router.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: '{}',
  })

test('a page of another origin changes nothing, whatever credential it sends, sign-in included', async () => {
  const { bearer } = world.key()
  const { cookie } = world.session()
  for (const origin of hostile) {
    for (const credential of [{}, { cookie }, { authorization: bearer }, { cookie, authorization: bearer }]) {
      for (const path of ['/keys', '/auth/nonce', '/auth/verify', '/auth/logout']) {
        const answer = await post(path, { origin, ...credential })
        expect({ origin, path, status: answer.status }).toEqual({ origin, path, status: 403 })
        expect(await answer.json()).toMatchObject({ error: { code: 'forbidden' } })
        expect(answer.headers.get('access-control-allow-origin')).toBeNull()
        expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
      }
    }
  }
  expect(world.backend.seen).toEqual([])
})

test('with the session cookie an Origin is required; a bearer from a server needs none', async () => {
  const { cookie } = world.session()
  const { bearer } = world.key()
  for (const junk of [cookie, 'svc_session=junk', `${cookie}; ${cookie}`]) {
    expect((await post('/auth/logout', { cookie: junk })).status, junk).toBe(403)
  }
  expect((await post('/keys', { cookie, origin: APP_ORIGIN })).status).toBe(200)
  expect((await post('/keys', { authorization: bearer })).status).toBe(200)
  expect((await post('/auth/nonce', {})).status).toBe(200)
  for (const method of ['PATCH', 'DELETE']) {
    const answer = await fetch(`${world.router.url}/keys/x`, { method, headers: { cookie } })
    expect([method, answer.status]).toEqual([method, 403])
  }
})

test('the listed origin may read every answer and its headers, refusals included', async () => {
  const { bearer } = world.key()
  const mayRead = (answer: Response) => {
    expect(answer.headers.get('access-control-allow-origin')).toBe(APP_ORIGIN)
    expect(answer.headers.get('access-control-allow-credentials')).toBe('true')
    expect(answer.headers.get('vary')).toContain('Origin')
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ')
    expect(exposed).toEqual(expect.arrayContaining(['x-request-id', 'retry-after', 'x-ratelimit-remaining-requests']))
    return answer.status
  }
  const origin = APP_ORIGIN
  expect(mayRead(await post('/keys', { origin }))).toBe(401)
  expect(mayRead(await post('/billing/topup', { origin, authorization: bearer }))).toBe(200)
  expect(mayRead(await post('/billing/topup', { origin, authorization: bearer }))).toBe(429)
  expect(mayRead(await fetch(`${world.router.url}/nowhere`, { headers: { origin } }))).toBe(404)
  world.backend.answer(() => Response.json({ error: { message: 'x', code: 'internal_error' } }, { status: 500 }))
  expect(mayRead(await fetch(`${world.router.url}/v1/models`, { headers: { origin } }))).toBe(500)
})

test('answers vary by Origin, also those to nobody’s origin, and a service’s own Vary stays', async () => {
  world.backend.answer(
    () =>
      new Response('{}', {
        headers: { vary: 'Accept', 'content-type': 'application/json', 'access-control-allow-origin': '*' },
      }),
  )
  const plain = await fetch(`${world.router.url}/v1/models`)
  expect(plain.headers.get('vary')).toBe('Accept, Origin')
  expect(plain.headers.get('access-control-allow-origin')).toBeNull()
  const foreign = await fetch(`${world.router.url}/v1/models`, { headers: { origin: 'https://evil.example' } })
  expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([200, null])
})

test('a preflight lets the listed origin send what the SDKs send', async () => {
  const wanted = [
    'authorization',
    'content-type',
    'idempotency-key',
    'openai-organization',
    'openai-project',
    'x-stainless-retry-count',
    'x-stainless-timeout',
    'x-stainless-lang',
    'x-stainless-package-version',
    'x-stainless-os',
    'x-stainless-arch',
    'x-stainless-runtime',
    'x-stainless-runtime-version',
    'x-stainless-helper-method',
  ]
  const answer = await fetch(`${world.router.url}/v1/chat/completions`, {
    method: 'OPTIONS',
    headers: {
      origin: APP_ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': wanted.join(','),
    },
  })
  expect(answer.status).toBe(204)
  expect(answer.headers.get('access-control-allow-origin')).toBe(APP_ORIGIN)
  expect(answer.headers.get('access-control-allow-methods')?.split(', ')).toContain('POST')
  expect(answer.headers.get('access-control-allow-headers')?.split(', ')).toEqual(expect.arrayContaining(wanted))
  expect(answer.headers.get('vary')).toBe('Access-Control-Request-Method, Access-Control-Request-Headers, Origin')
  expect(answer.headers.get('x-request-id')).toMatch(/^req_/)
  for (const origin of hostile) {
    const refused = await fetch(`${world.router.url}/keys`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect([origin, refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([origin, 403, null])
    expect(refused.headers.get('access-control-allow-headers')).toBeNull()
  }
  expect(world.backend.seen).toEqual([])
})

test('two Origin headers are none of ours, even where one is, and look-alikes in UTF-8 are none either', async () => {
  const app = `Origin: ${APP_ORIGIN}\r\n`
  const evil = 'Origin: https://evil.example\r\n'
  const homograph = `Origin: ${APP_ORIGIN.replace('a', 'а')}\r\n`
  for (const lines of [app + app, app + evil, evil + app, homograph, `${app}Origin:\r\n`, 'Origin:\r\n']) {
    const request = `POST /auth/nonce HTTP/1.1\r\nHost: gate.example\r\n${lines}Content-Length: 2\r\nConnection: close\r\n\r\n{}`
    expect({ lines, status: (await raw(world.router.port, request)).status }).toEqual({ lines, status: 403 })
  }
  expect(world.backend.seen).toEqual([])
})
