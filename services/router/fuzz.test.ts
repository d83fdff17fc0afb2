import { afterAll, beforeAll, expect, test } from 'bun:test'
import { publicErrors, routes } from '@tollgate/contracts'
import fc from 'fast-check'
import { raw } from './test/raw.ts'
import { APP_ORIGIN, startWorld, type World } from './test/world.ts'

/** `bun run fuzz` sets 20,000. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 1_000)
const CONCURRENCY = 20

const raised = JSON.stringify(
  Object.fromEntries(['chat', 'nonce', 'keys', 'topup', 'verify'].map(name => [name, { count: 1_000_000 }])),
)
let world: World
let bearer: string
let cookie: string

beforeAll(async () => {
  world = await startWorld({ env: { LIMITS: raised } })
  bearer = world.key().bearer
  cookie = world.session().cookie
  // What a service says of its insides must not come out.
  world.backend.answer((_request, { path }) => {
    if (path.includes('boom'))
      return new Response('<h1>Error at db://10.0.0.1</h1>', { status: 500, headers: { 'content-type': 'text/html' } })
    return Response.json({ ok: true })
  })
}, 30_000)
afterAll(() => world[Symbol.asyncDispose]())

const segments = [
  'keys',
  'auth',
  'v1',
  'models',
  'chat',
  'completions',
  'billing',
  'topup',
  'nonce',
  '..',
  '.',
  '',
  '%2e%2e',
  '%2f',
  '%00',
  'boom',
  '*',
  '~',
  'a b',
  'ž',
  '\\',
  '?',
  '#',
  ':id',
  '__proto__',
  'constructor',
]
const knownPaths = routes.map(({ path }) => path.replace(':id', 'x'))
/** Mostly what HTTP allows, so that it gets past Bun's parser; a few that it does not. */
const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: odd })
const printable = fc.string({ maxLength: 40 }).map(text => text.replaceAll(/[^!-~]/g, ''))

const path = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...knownPaths) },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom(...segments), { maxLength: 6 }).map(parts => `/${parts.join('/')}`),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...knownPaths), printable).map(([known, tail]) => known + tail) },
)
const method = mostly(
  fc.constantFrom('GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'CONNECT'),
  fc.string({ minLength: 1, maxLength: 8 }),
)
/** Half of them a route as it is. */
const target = fc.oneof(
  fc.constantFrom(...routes.map(route => [route.method as string, route.path.replaceAll(/:\w+/g, 'x')] as const)),
  fc.tuple(method, path),
)
const host = mostly(
  fc.constant('gate.example'),
  fc.oneof(fc.constantFrom('x', '', 'a.b', 'gate.example, x', '[::1]', 'u@gate.example'), fc.string({ maxLength: 30 })),
)
const credential = fc.constantFrom<() => [string, string][]>(
  () => [],
  () => [['Authorization', bearer]],
  () => [['Cookie', cookie]],
  () => [
    ['Cookie', cookie],
    ['Origin', APP_ORIGIN],
  ],
)
const headerValue = fc.oneof(
  printable,
  fc.constantFrom(
    'null',
    APP_ORIGIN,
    'https://evil.example',
    'constructor',
    'gzip',
    '5',
    '-1',
    'svc_session=x; svc_session=y',
  ),
)
const headerName = mostly(
  fc.constantFrom(
    'Authorization',
    'Cookie',
    'Origin',
    'Content-Type',
    'Content-Encoding',
    'X-Request-Id',
    'X-Tollgate-Identity',
    'X-Forwarded-For',
    'Traceparent',
    'Expect',
    'Connection',
    'If-None-Match',
    'Access-Control-Request-Method',
  ),
  fc.oneof(fc.constantFrom('Host', 'Content-Length', 'Transfer-Encoding', 'Upgrade'), fc.string({ maxLength: 12 })),
)
const body = fc.oneof(
  fc.constant(''),
  fc.json(),
  fc.string({ maxLength: 100 }),
  fc.constantFrom('{', '['.repeat(1_000), '\u0000', '{"__proto__":1}'),
)

const request = fc
  .record({
    target,
    host,
    credential,
    headers: fc.array(fc.tuple(headerName, headerValue), { maxLength: 3 }),
    body,
  })
  .map(({ target: [method, path], host, credential, headers, body }) => () => {
    const lines = [...credential(), ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const length = Buffer.byteLength(body)
    return `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines}${length > 0 ? `Content-Length: ${length}\r\n` : ''}Connection: close\r\n\r\n${body}`
  })

const listedStatuses = new Set<number>(Object.values(publicErrors))

/** Whatever the bytes: a listed error, an answer of the service, or Bun's own refusal of what is no HTTP; never an inside. */
async function check(text: string): Promise<void> {
  const answer = await raw(world.router.port, Buffer.from(text, 'utf8'), { withinMs: 1_000 })
  const at = JSON.stringify(text)
  expect(answer.body, at).not.toMatch(/10\.0\.0\.1|db:|127\.0\.0\.1|at \S+\.ts|Error:|node_modules|nats|x-tollgate/i)
  expect(answer.status, at).not.toBe(500)
  if (answer.status < 400) return
  if (answer.headers.get('x-request-id') === null) {
    expect([400, 413, 414, 431, 501, 505], at).toContain(answer.status)
    expect(answer.body, at).toBe('')
    return
  }
  expect(listedStatuses.has(answer.status), at).toBe(true)
  if (answer.body === '') return
  const { error } = JSON.parse(answer.body) as { error: { code: keyof typeof publicErrors; message: string } }
  expect(publicErrors[error.code], at).toBe(answer.status as 400)
}

test(`${RUNS} requests of every shape get a listed answer, and the router lives on`, async () => {
  const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
  console.log(`fuzz seed ${seed}`)
  const samples = fc.sample(request, { numRuns: RUNS, seed })
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async (_, worker) => {
      for (let n = worker; n < samples.length; n += CONCURRENCY) await check(samples[n]?.() ?? '')
    }),
  )
  expect((await fetch(`${world.router.url}/readyz`)).status).toBe(200)
  const output = world.router.output()
  for (const secret of [bearer.slice(7), cookie.slice(12), 'identity of a test', '<h1>'])
    expect(output).not.toContain(secret)
  expect(output).not.toContain('"level":"error"')
}, 600_000)
