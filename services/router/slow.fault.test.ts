import { expect, test } from 'bun:test'
import { createConnection } from 'node:net'
import { startWorld } from './test/world.ts'

const SLOW = 200
/** A slow body is told so after 20 s, and its connection goes with the idle time of the listener. */
const LET_GO_WITHIN_MS = 40_000

test('callers who send a head or a body in drops hold nobody up, and are let go', async () => {
  await using world = await startWorld()
  const beginnings = [
    '',
    'POST /auth/nonce HTTP/1.1\r\nHost: gate.example\r\nX-',
    'POST /auth/nonce HTTP/1.1\r\nHost: gate.example\r\nContent-Length: 60000\r\n\r\n',
    'POST /auth/nonce HTTP/1.1\r\nHost: gate.example\r\nTransfer-Encoding: chunked\r\n\r\nFFFF\r\n',
  ]
  const startedAt = performance.now()
  const lives = Array.from({ length: SLOW }, (_, n) => {
    const { promise, resolve } = Promise.withResolvers<number>()
    const beginning = beginnings[n % beginnings.length] ?? ''
    const socket = createConnection({ port: world.router.port, host: '127.0.0.1' })
    const drops = setInterval(() => beginning !== '' && socket.write('x'), 1_000)
    socket.on('data', () => undefined)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearInterval(drops)
      resolve(performance.now() - startedAt)
    })
    socket.write(beginning)
    return promise
  })
  const askedAt = performance.now()
  expect((await fetch(`${world.router.url}/v1/models`)).status).toBe(200)
  expect(performance.now() - askedAt).toBeLessThan(1_000)
  const lived = await Promise.all(lives)
  expect(Math.max(...lived)).toBeLessThan(LET_GO_WITHIN_MS)
  expect(world.backend.seen.map(({ path }) => path)).toEqual(['/v1/models'])
}, 60_000)
