import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { createConnection, type Socket } from 'node:net'
import { eventually, freePort } from '@tollgate/testing'
import { startBackend } from './test/backend.ts'
import { startHostileService } from './test/hostile-service.ts'
import { raw } from './test/raw.ts'
import { startWorld, type World } from './test/world.ts'

const LIMITS = '{"chat":{"count":100000},"nonce":{"count":100000}}'
let world: World
let bearer: string

beforeAll(async () => {
  world = await startWorld({ env: { LIMITS } })
  bearer = world.key().bearer
}, 30_000)
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => world.backend.reset())

const chat = (body: Bun.BodyInit, init: RequestInit = {}, to: World = world) =>
  fetch(`${to.router.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: bearer, 'content-type': 'application/json' },
    body,
    ...init,
  })
const codeOf = async (answer: Response) => ((await answer.json()) as { error: { code: string } }).error.code

/** A backend's stream that the test feeds. */
function fedStream() {
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined
  const state = { cancelled: false }
  const stream = new ReadableStream<Uint8Array>({
    start: controller => {
      feed = controller
    },
    cancel: () => {
      state.cancelled = true
    },
  })
  const text = new TextEncoder()
  return {
    state,
    answer: () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
    send: (chunk: string) => feed?.enqueue(text.encode(chunk)),
    end: () => feed?.close(),
  }
}

async function readText(
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array }> } | undefined,
): Promise<string> {
  return new TextDecoder().decode((await reader?.read())?.value)
}

test('a stream passes one chunk for one chunk, at once, and byte for byte', async () => {
  const source = fedStream()
  world.backend.answer(() => source.answer())
  source.send(': hello\n\n')
  const answer = await chat('{}')
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  const reader = answer.body?.getReader()
  expect(await readText(reader)).toBe(': hello\n\n')
  for (let n = 0; n < 20; n++) {
    const event = `data: {"n":${n},"text":"žluť 🦊"}\r\n\r\n`
    source.send(event)
    expect(await readText(reader)).toBe(event)
  }
  source.end()
  expect((await reader?.read())?.done).toBe(true)
})

test('when the caller leaves, the service hears of it within moments: in a stream, a quiet one, and before any answer', async () => {
  const source = fedStream()
  world.backend.answer(() => source.answer())
  source.send('data: 1\n\n')
  const leaving = new AbortController()
  const answer = await chat('{}', { signal: leaving.signal })
  await answer.body?.getReader().read()
  leaving.abort()
  await eventually(() => source.state.cancelled, { withinMs: 1_000 })

  let aborted = false
  world.backend.answer(request => {
    request.signal.addEventListener('abort', () => {
      aborted = true
    })
    return new Promise<never>(() => undefined)
  })
  const never = new AbortController()
  const asked = chat('{}', { signal: never.signal }).catch(() => 'left')
  await eventually(() => world.backend.seen.length === 2)
  never.abort()
  expect(await asked).toBe('left')
  await eventually(() => aborted, { withinMs: 1_000 })
})

test('a caller that stops reading stops the service: nothing piles up in between', async () => {
  let sentBytes = 0
  const chunk = new Uint8Array(64 * 1024)
  world.backend.answer(
    () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sentBytes += chunk.length
            controller.enqueue(chunk)
          },
        }),
      ),
  )
  const socket = createConnection({ port: world.router.port, host: '127.0.0.1' })
  socket.pause()
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: gate.example\r\nAuthorization: ${bearer}\r\nContent-Length: 2\r\n\r\n{}`,
  )
  let before = -1
  await eventually(
    () => {
      const isStill = sentBytes > 0 && sentBytes === before
      before = sentBytes
      return isStill
    },
    { everyMs: 300, withinMs: 4_000 },
  )
  expect(sentBytes).toBeLessThan(32 * 1024 * 1024)
  socket.destroy()
})

test('a stream that the service breaks off is a reset for the caller, never an orderly end', async () => {
  const service = await startHostileService(socket => {
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n',
    )
    setTimeout(() => socket.destroy(), 50)
  })
  await using own = await startWorld({ env: { LIMITS, METERING_PROXY_URLS: service.url } })
  const key = own.key()
  const answer = await raw(
    own.router.port,
    `POST /v1/chat/completions HTTP/1.1\r\nHost: gate.example\r\nAuthorization: ${key.bearer}\r\nContent-Length: 2\r\n\r\n{}`,
  )
  expect(answer.status).toBe(200)
  expect(answer.body).toContain('data: 1')
  expect(answer.body).not.toContain('\r\n0\r\n')
  expect(answer.ending).toBe('ECONNRESET')
  const seen = fetch(`${own.router.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: key.bearer },
    body: '{}',
  })
  expect(seen.then(response => response.text())).rejects.toThrow()
  await seen
  service.stop()
}, 20_000)

test('what breaks before the answer is whole is a listed 503, and is not sent a second time', async () => {
  const heads: string[] = [
    '',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"half":',
    'nonsense\r\n\r\n',
    'HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\nContent-Length: 24\r\n\r\n<h1>at 10.0.0.1:5432</h1>',
  ]
  let next = ''
  const answer = (socket: Socket) => (next === '' ? socket.resetAndDestroy() : socket.end(next))
  const replicas = [await startHostileService(answer), await startHostileService(answer)]
  const connections = () => replicas.reduce((sum, replica) => sum + replica.connections, 0)
  await using own = await startWorld({ env: { LIMITS, METERING_PROXY_URLS: replicas.map(({ url }) => url).join() } })
  const { bearer: authorization } = own.key()
  for (const head of heads) {
    next = head
    const before = connections()
    const answer = await fetch(`${own.router.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization },
      body: '{}',
    })
    expect({ head, status: answer.status }).toEqual({ head, status: 503 })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(await answer.text()).toMatch(/^\{"error":\{"message":"[^"]*","code":"service_unavailable"\}\}$/)
    expect(connections() - before).toBe(1)
  }
  for (const replica of replicas) replica.stop()
}, 20_000)

test('what a service says that is no JSON stays inside, also where only its head is asked for', async () => {
  const says = 'HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\noops'
  const replica = await startHostileService(socket => socket.end(says))
  await using own = await startWorld({ env: { LIMITS, METERING_PROXY_URLS: replica.url } })
  const answer = await fetch(`${own.router.url}/v1/models`, { method: 'HEAD' })
  expect({ status: answer.status, type: answer.headers.get('content-type')?.split(';')[0] }).toEqual({
    status: 503,
    type: 'application/json',
  })
  replica.stop()
}, 20_000)

test('a replica that refuses the connection is passed over, also for a body that flows; none left is 503', async () => {
  const nobody = `http://127.0.0.1:${freePort()}`
  const somebody = startBackend()
  const urls = `${nobody},${somebody.url}`
  await using own = await startWorld({ env: { LIMITS, METERING_PROXY_URLS: urls, BILLING_URLS: urls } })
  const { bearer: authorization } = own.key()
  const large = 'x'.repeat(1_000_000)
  for (let n = 0; n < 10; n++) {
    for (const body of ['{}', large]) {
      const answer = await fetch(`${own.router.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization },
        body,
      })
      expect([n, answer.status]).toEqual([n, 200])
    }
  }
  expect(somebody.seen.filter(({ body }) => body.length === large.length)).toHaveLength(10)
  await somebody.stop()
  const answer = await fetch(`${own.router.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization },
    body: '{}',
  })
  expect([answer.status, answer.headers.get('retry-after'), await codeOf(answer)]).toEqual([
    503,
    '1',
    'service_unavailable',
  ])
}, 20_000)
