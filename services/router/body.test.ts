import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { createConnection } from 'node:net'
import { raw } from './test/raw.ts'
import { startWorld, type World } from './test/world.ts'

const SMALL_MAX = 64 * 1024
const CHAT_MAX = 32 * 1024 * 1024
let world: World
let bearer: string

beforeAll(async () => {
  world = await startWorld({ env: { LIMITS: '{"chat":{"count":100000},"nonce":{"count":100000}}' } })
  bearer = world.key().bearer
}, 30_000)
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => world.backend.reset())

const post = (path: string, body: Bun.BodyInit, headers: Record<string, string> = {}) =>
  fetch(world.router.url + path, { method: 'POST', headers: { authorization: bearer, ...headers }, body })
const outcome = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { error?: { code: string } }).error?.code,
]
const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Chunked: no content-length says how long it will be. */
function chunked(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + 64 * 1024))
      at += 64 * 1024
    },
  })
}

test('the largest small body passes and one byte more is our 400, by its length and by counting', async () => {
  const text = (length: number) => new TextEncoder().encode(`"${'x'.repeat(length - 2)}"`)
  expect((await post('/auth/nonce', text(SMALL_MAX))).status).toBe(200)
  expect((await post('/auth/nonce', chunked(text(SMALL_MAX)))).status).toBe(200)
  expect(world.backend.seen.map(({ body }) => body.length)).toEqual([SMALL_MAX, SMALL_MAX])
  expect(await outcome(await post('/auth/nonce', text(SMALL_MAX + 1)))).toEqual([400, 'bad_request'])
  expect(await outcome(await post('/auth/nonce', chunked(text(SMALL_MAX + 1))))).toEqual([400, 'bad_request'])
  expect(world.backend.seen).toHaveLength(2)
})

test('a chat body of 32 MB flows through byte for byte, with and without a length, and more is our 400', async () => {
  const largest = randomBytes(CHAT_MAX)
  expect((await post('/v1/chat/completions', largest)).status).toBe(200)
  expect((await post('/v1/chat/completions', chunked(largest))).status).toBe(200)
  expect(world.backend.seen.map(({ body }) => sha(body))).toEqual([sha(largest), sha(largest)])
  const larger = new Uint8Array(CHAT_MAX + 1)
  expect(await outcome(await post('/v1/chat/completions', larger))).toEqual([400, 'bad_request'])
  expect(await outcome(await post('/v1/chat/completions', chunked(larger)))).toEqual([400, 'bad_request'])
}, 30_000)

test('a length that lies does not help: the service gets what the length says, or nothing', async () => {
  const head = `POST /auth/nonce HTTP/1.1\r\nHost: gate.example\r\n`
  const short = await raw(world.router.port, `${head}Content-Length: 2\r\n\r\n{}GARBAGE`)
  expect(short.status).toBe(200)
  expect(new TextDecoder().decode(world.backend.seen[0]?.body)).toBe('{}')
  const missing = await raw(world.router.port, `${head}Content-Length: 10\r\n\r\n{}`, { withinMs: 500 })
  expect(missing.status).toBe(0)
  expect((await raw(world.router.port, `${head}Content-Length: 99999999999999999999\r\n\r\n{}`)).status).toBe(400)
  expect(world.backend.seen).toHaveLength(1)
})

test('a compressed body is refused, since its true size is unknown', async () => {
  for (const encoding of ['gzip', 'br', 'x-gzip', 'gzip, identity']) {
    expect(await outcome(await post('/auth/nonce', '{}', { 'content-encoding': encoding }))).toEqual([
      400,
      'bad_request',
    ])
  }
  expect((await post('/auth/nonce', '{}', { 'content-encoding': 'identity' })).status).toBe(200)
})

test('JSON that is nested deep and bytes that are no UTF-8 do not reach a service', async () => {
  const text = (bytes: number[]) => new Uint8Array([0x22, ...bytes, 0x22])
  const deep = ['['.repeat(SMALL_MAX), `{"a":${'['.repeat(65)}`]
  // A stray byte, a half surrogate, a NUL in two bytes, and text of two bytes a character.
  const strays = [text([0xff]), text([0xed, 0xa0, 0x80]), text([0xc0, 0x80]), Buffer.from('\ufeff{}', 'utf16le')]
  for (const body of [...deep, ...strays]) {
    expect(await outcome(await post('/auth/nonce', body))).toEqual([400, 'bad_request'])
  }
  expect(world.backend.seen).toEqual([])
})

test('a body that comes after the refusal does not confuse the next request on the connection', async () => {
  const large = 'x'.repeat(100_000)
  const text = await new Promise<string>(resolve => {
    const socket = createConnection({ port: world.router.port, host: '127.0.0.1' })
    let heard = ''
    socket.on('data', chunk => {
      heard += chunk
      if (heard.split('HTTP/1.1 ').length === 3) socket.end()
    })
    socket.on('close', () => resolve(heard))
    socket.write(`POST /auth/nonce HTTP/1.1\r\nHost: gate.example\r\nContent-Length: ${large.length}\r\n\r\n`)
    socket.write(`${large}GET /v1/models HTTP/1.1\r\nHost: gate.example\r\nConnection: close\r\n\r\n`)
  })
  expect(Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status)).toEqual(['400', '200'])
})

test('a chunked bomb ends at the limit, at the parser, or with its connection', async () => {
  const head = 'POST /auth/nonce HTTP/1.1\r\nHost: gate.example\r\nTransfer-Encoding: chunked\r\n\r\n'
  const bombs: [name: string, body: string, status: number][] = [
    ['single bytes without end', '1\r\na\r\n'.repeat(SMALL_MAX + 1), 400],
    ['a chunk of more than can be counted', `${'F'.repeat(18)}\r\n{}`, 400],
    ['a chunk of a negative size', '-2\r\n{}\r\n0\r\n\r\n', 400],
    ['an extension without end', `2;${'x'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`, 413],
    ['a chunk of 2 GB of which little comes', `7FFFFFFF\r\n${'x'.repeat(SMALL_MAX + 1)}`, 400],
    ['a chunk of 2 GB of which nothing comes', '7FFFFFFF\r\n', 0],
  ]
  for (const [name, body, status] of bombs) {
    const answer = await raw(world.router.port, head + body, { withinMs: 500 })
    expect({ name, status: answer.status }).toEqual({ name, status })
  }
  expect(world.backend.seen).toEqual([])
})

test('requests in one packet are answered in their order, as far as they are answered', async () => {
  const one = (path: string, ending: string) => `GET ${path} HTTP/1.1\r\nHost: gate.example\r\n${ending}\r\n`
  const packet = one('/nowhere', '') + one('/v1/models', '') + one('/keys', 'Connection: close\r\n')
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = createConnection({ port: world.router.port, host: '127.0.0.1' })
  let heard = ''
  socket.on('data', chunk => {
    heard += chunk
  })
  socket.on('close', () => resolve(heard))
  socket.setTimeout(3_000, () => socket.destroy())
  socket.write(packet)
  const statuses = Array.from((await promise).matchAll(/HTTP\/1\.1 (\d+)/g), ([, status = '']) => status)
  // Bun ends a connection on which a request comes while another is under way.
  expect(statuses[0]).toBe('404')
  expect(statuses).toEqual(['404', '200', '401'].slice(0, statuses.length))
})

test('a caller who leaves in the middle of his body is no failure of ours', async () => {
  const heads = ['Content-Length: 9', `Content-Length: ${300 * 1024}`, 'Transfer-Encoding: chunked']
  for (const path of ['/v1/chat/completions', '/keys']) {
    for (const length of heads) {
      const text = `POST ${path} HTTP/1.1\r\nHost: gate.example\r\nAuthorization: ${bearer}\r\n${length}\r\n\r\n3\r\n{"a\r\n`
      await raw(world.router.port, text, { withinMs: 100 })
    }
  }
  expect((await fetch(`${world.router.url}/readyz`)).status).toBe(200)
  expect(world.router.output()).not.toContain('"level":"error"')
})
