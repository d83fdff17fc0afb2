import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { routes } from '@tollgate/contracts'
import { raw } from './test/raw.ts'
import { startWorld, type World } from './test/world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld()
}, 30_000)
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => world.backend.reset())

const rawGet = (target: string, headers = '') =>
  raw(world.router.port, `GET ${target} HTTP/1.1\r\nHost: gate.example\r\n${headers}Connection: close\r\n\r\n`)

test('every answer carries a fresh request id, and a caller’s own is no id', async () => {
  const paths = [
    '/healthz',
    '/readyz',
    '/metrics',
    '/nowhere',
    '/keys',
    '/v1/models',
    '/openapi.json',
    '/docs',
    '/',
    '/keys/',
  ]
  const ids = new Set<string>()
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD', 'DELETE', 'PUT']) {
      const headers = { 'x-request-id': 'req_mine', origin: 'https://evil.example' }
      const answer = await fetch(world.router.url + path, { method, headers })
      const id = answer.headers.get('x-request-id') ?? 'none'
      expect(id, `${method} ${path}`).toMatch(/^req_[0-9a-f]{32}$/)
      expect(ids.has(id)).toBe(false)
      ids.add(id)
    }
  }
  expect(world.backend.seen.every(({ headers }) => ids.has(headers.get('x-request-id') ?? ''))).toBe(true)
  expect(
    (await raw(world.router.port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).headers.get(
      'x-request-id',
    ),
  ).toMatch(/^req_/)
})

test('a Host that is short, missing, doubled or no host is refused before any route is looked for', async () => {
  const hosts = [
    'x',
    'a.b',
    'x:80',
    'abc:8080',
    '',
    'a b',
    'gate.example/v1',
    'u:p@gate.example',
    'gate.example?',
    'gate.example#x',
    '[::1',
    'gäte.example',
    'gate.example, evil',
    'gate.example:x',
    `${'a'.repeat(300)}.example`,
  ]
  for (const host of hosts) {
    for (const path of ['/v1/models', '/keys', '/healthz/../keys', '/nowhere']) {
      const answer = await raw(world.router.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect({ host, path, status: answer.status }).toEqual({ host, path, status: 400 })
    }
  }
  const doubled = 'GET /v1/models HTTP/1.1\r\nHost: gate.example\r\nHost: gate.example\r\nConnection: close\r\n\r\n'
  expect((await raw(world.router.port, doubled)).status).toBe(400)
  expect((await raw(world.router.port, 'GET /v1/models HTTP/1.0\r\n\r\n')).status).toBe(400)
  expect(world.backend.seen).toEqual([])
  for (const host of ['gate.example', 'GATE.example:8080', '127.0.0.1', '[::1]:80', 'a.bc', 'localhost']) {
    const good = await raw(world.router.port, `GET /v1/models HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    expect({ host, status: good.status }).toEqual({ host, status: 200 })
  }
})

test('only the listed paths reach a service, exactly as they are written', async () => {
  const { bearer } = world.key()
  const credential = `Authorization: ${bearer}\r\n`
  const nothing = [
    '/',
    '//keys',
    '/keys/',
    '/keys//',
    '/KEYS',
    '/keys%2f',
    '/%6beys',
    '/keys/a/b',
    '/v1',
    '/v1/',
    '/v1/models/',
    '/v1//models',
    '/auth',
    '/keys;x',
    '/keys#x',
    '/keys/x#y',
    '/v1/chat',
    '/v1/responses',
    '/auth/sessions/',
    '/ledger',
    '/..',
    '/keys/../ledger',
    '/keys/%2e%2e/ledger',
    '/keys\\..\\ledger',
    '/metrics',
  ]
  for (const path of nothing) {
    const answer = await rawGet(path, credential)
    expect({ path, status: answer.status }).toEqual({ path, status: 404 })
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'not_found' } })
  }
  expect(world.backend.seen).toEqual([])
})

test('an encoded slash stays in its segment, and dots lead nowhere that is no route', async () => {
  await rawGet('/v1/models/openai%2fgpt?x=%2e%2e%2f')
  await rawGet('/v1/models/..%2fkeys')
  await rawGet('/v1/models/%252e%252e')
  expect(world.backend.seen.map(({ path }) => path)).toEqual([
    '/v1/models/openai%2fgpt?x=%2e%2e%2f',
    '/v1/models/..%2fkeys',
    '/v1/models/%252e%252e',
  ])
  // Resolved before anybody looks, by the rules of URLs: the caller asks for /v1/models, and gets what it gives.
  expect((await rawGet('/keys/../v1/models')).status).toBe(200)
  expect((await rawGet('http://evil.example/v1/models')).status).toBe(200)
  expect(world.backend.seen.slice(3).map(({ path }) => path)).toEqual(['/v1/models', '/v1/models'])
})

test('a method that a path does not have is not found, HEAD stands for GET, and OPTIONS names the methods', async () => {
  for (const { path, method } of routes) {
    const url = world.router.url + path.replace(':id', 'x')
    const known = new Set<string>(routes.filter(route => route.path === path).map(route => route.method))
    for (const other of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'].filter(name => !known.has(name))) {
      const answer = await raw(
        world.router.port,
        `${other} ${path.replace(':id', 'x')} HTTP/1.1\r\nHost: gate.example\r\nConnection: close\r\n\r\n`,
      )
      expect({ other, path, status: answer.status }).toEqual({ other, path, status: 404 })
    }
    const options = await fetch(url, { method: 'OPTIONS' })
    expect(options.status).toBe(204)
    expect(options.headers.get('allow')?.split(', ')).toContain(method)
  }
  const head = await fetch(`${world.router.url}/v1/models`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect((await fetch(`${world.router.url}/nowhere`, { method: 'OPTIONS' })).status).toBe(404)
})

test('requests that two parsers could read differently are refused', async () => {
  const head = 'POST /auth/nonce HTTP/1.1\r\nHost: gate.example\r\n'
  const smuggled = 'GET /keys HTTP/1.1\r\nHost: gate.example\r\n\r\n'
  const odd = [
    `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    `${head}Content-Length: -5\r\n\r\nhello`,
    `${head}Content-Length: +5\r\n\r\nhello`,
    `${head}X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}`,
    `${head}X: a\0b\r\nContent-Length: 2\r\n\r\n{}`,
    `${head}Transfer-Encoding: chunked\r\n\r\nZZ\r\nhello\r\n0\r\n\r\n`,
    `${head}Content-Length: 2, 2\r\n\r\n{}`,
    `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    `${head}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    `${head}X: a\rb\r\nContent-Length: 2\r\n\r\n{}`,
    `POST /auth/nonce HTTP/1.1\nHost: gate.example\nContent-Length: 2\n\n{}`,
    `POST /auth/nonce HTTP/2.0\r\nHost: gate.example\r\nContent-Length: 2\r\n\r\n{}`,
    `POST /auth/nonce\r\n\r\n`,
  ]
  for (const text of odd) {
    const answer = await raw(world.router.port, text)
    expect({ text, status: answer.status, at: world.backend.seen.length }).toMatchObject({
      status: expect.any(Number),
      at: 0,
    })
    expect([400, 0, 501, 505], text).toContain(answer.status)
    expect(answer.body.match(/HTTP\/1\.1/g), text).toBeNull()
  }
})

test('methods are upper case, and HTTP/1.0 is answered like 1.1 and then closed', async () => {
  for (const method of ['get', 'Get', 'gET']) {
    const answer = await raw(world.router.port, `${method} /v1/models HTTP/1.1\r\nHost: gate.example\r\n\r\n`)
    expect({ method, status: answer.status }).toEqual({ method, status: 0 })
  }
  expect(world.backend.seen).toEqual([])
  const old = await raw(world.router.port, 'GET /v1/models HTTP/1.0\r\nHost: gate.example\r\n\r\n')
  expect([old.status, old.headers.get('x-request-id')]).toEqual([200, expect.stringMatching(/^req_/)])
})

test('an id that is no text once it is decoded names nothing, and no line break in one becomes a header', async () => {
  const { bearer } = world.key()
  for (const id of ['%', '%f', '%zz', '%ff', '%ed%a0%80', '%c0%ae']) {
    for (const path of [`/v1/models/${id}`, `/keys/${id}`, `/billing/intents/${id}`, `/auth/sessions/${id}?x=1`]) {
      const method = /keys|sessions/.test(path) ? 'DELETE' : 'GET'
      const head = `${method} ${path} HTTP/1.1\r\nHost: gate.example\r\nAuthorization: ${bearer}\r\n`
      const answer = await raw(world.router.port, `${head}Connection: close\r\n\r\n`)
      expect({ path, status: answer.status }).toEqual({ path, status: 404 })
    }
  }
  expect(world.backend.seen).toEqual([])
  world.backend.answer((_request, { path }) => Response.json({ error: { message: path, code: 'not_found' } }))
  const split = await rawGet('/v1/models/a%0d%0aX-Evil:%201')
  expect([split.status, split.headers.get('x-evil')]).toEqual([200, null])
  expect(world.backend.seen.map(({ path }) => path)).toEqual(['/v1/models/a%0d%0aX-Evil:%201'])
})

test('two Authorization headers are no credential', async () => {
  const { bearer } = world.key()
  const answer = await rawGet('/keys', `Authorization: ${bearer}\r\nAuthorization: ${bearer}\r\n`)
  expect(answer.status).toBe(401)
  expect(world.backend.seen).toEqual([])
})

test('what a service hears: our identity, request id and trace; not the caller’s, and no credential', async () => {
  const { bearer } = world.key()
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const headers = {
    authorization: bearer,
    cookie: 'svc_session=x',
    'x-tollgate-identity': 'forged',
    'x-forwarded-for': '1.2.3.4',
    forwarded: 'for=1.2.3.4',
    'x-real-ip': '1.2.3.4',
    'proxy-authorization': 'Basic x',
    te: 'trailers',
    'x-custom': 'kept at the edge',
    'idempotency-key': 'once',
    traceparent: trace,
    tracestate: 'a=b',
  }
  await fetch(`${world.router.url}/keys`, { headers })
  await fetch(`${world.router.url}/keys`, {
    headers: { authorization: bearer, traceparent: '00-0-0-01', tracestate: 'a=b' },
  })
  const [first, second] = world.backend.seen.map(seen => seen.headers)
  expect(first?.get('x-tollgate-identity')).toMatch(/^[\w-]+\.[\w-]+$/)
  expect([first?.get('traceparent'), first?.get('tracestate'), first?.get('idempotency-key')]).toEqual([
    trace,
    'a=b',
    'once',
  ])
  expect(second?.get('traceparent')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  expect(second?.get('tracestate')).toBeNull()
  for (const name of [
    'authorization',
    'cookie',
    'x-forwarded-for',
    'forwarded',
    'x-real-ip',
    'proxy-authorization',
    'te',
    'x-custom',
  ]) {
    expect(first?.get(name), name).toBeNull()
  }
})

test('with hosts configured, others are refused, in any case and with any port', async () => {
  await using strict = await startWorld({ env: { ALLOWED_HOSTS: 'gate.example, 127.0.0.1' } })
  const ask = (host: string) =>
    raw(strict.router.port, `GET /v1/models HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  for (const host of ['gate.example', 'Gate.Example', 'gate.example:8080'])
    expect((await ask(host)).status, host).toBe(200)
  for (const host of ['evil.example', 'gate.example.evil', 'xgate.example', 'constructor'])
    expect((await ask(host)).status, host).toBe(400)
}, 20_000)

test('a proxy in the environment hears nothing of what goes to services', async () => {
  const heard: string[] = []
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      heard.push(request.url)
      return new Response('from the proxy')
    },
  })
  const address = `http://127.0.0.1:${proxy.port}`
  await using own = await startWorld({ env: { HTTP_PROXY: address, http_proxy: address, NO_PROXY: '' } })
  expect((await fetch(`${own.router.url}/v1/models`)).status).toBe(200)
  expect(heard).toEqual([])
  expect(own.backend.seen).toHaveLength(1)
  await proxy.stop(true)
}, 20_000)
