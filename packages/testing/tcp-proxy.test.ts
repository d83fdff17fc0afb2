import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createConnection, createServer, type Server } from 'node:net'
import { eventually } from '@tollgate/process'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

let echo: Server
let port: number
beforeAll(async () => {
  echo = createServer({ allowHalfOpen: true }, socket => {
    socket.on('error', () => {}).pipe(socket)
  })
  await new Promise<void>(resolve => echo.listen(0, '127.0.0.1', resolve))
  const address = echo.address()
  port = address !== null && typeof address === 'object' ? address.port : 0
})
afterAll(() => {
  echo.close()
})

/** Sends the text and tells what came back, when, and how it ended. */
function talk(proxy: TcpProxy, text: string, { close = true } = {}) {
  const heard = { text: '', end: 'open', chunks: 0, firstAfterMs: 0 }
  const started = performance.now()
  const socket = createConnection({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('data', bytes => {
    heard.firstAfterMs ||= performance.now() - started
    heard.text += bytes
    heard.chunks++
  })
  socket.on('end', () => {
    heard.end = 'fin'
    socket.end()
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    heard.end = error.code ?? 'error'
  })
  socket.write(text)
  if (close) socket.end()
  const over = () => eventually(() => heard.end !== 'open' && heard, { withinMs: 3_000 })
  return { heard, over, socket }
}

test('without faults, bytes and the end pass', async () => {
  await using proxy = await tcpProxy({ port })
  expect(await talk(proxy, 'hello').over()).toMatchObject({ text: 'hello', end: 'fin' })
})

test.each([
  ['rst', 'ECONNRESET'],
  ['fin', 'fin'],
] as const)('a connection is cut by %s in the middle of an answer', async (how, end) => {
  await using proxy = await tcpProxy({ port })
  proxy.set({ cutAfter: { bytes: 3, direction: 'to-client', how } })
  const { over } = talk(proxy, 'hello', { close: false })
  expect(await over()).toMatchObject({ text: 'hel', end })
})

test('a half-open connection stays open and silent', async () => {
  await using proxy = await tcpProxy({ port })
  proxy.set({ cutAfter: { bytes: 3, direction: 'to-client', how: 'half-open' } })
  const { heard, socket } = talk(proxy, 'hello', { close: false })
  await eventually(() => heard.text === 'hel')
  socket.write(' again')
  await expect(eventually(() => heard.end !== 'open' || heard.text !== 'hel', { withinMs: 200 })).rejects.toThrow()
  expect(proxy.open()).toBe(1)
  socket.destroy()
})

test('latency delays, drip splits, refuse resets', async () => {
  await using proxy = await tcpProxy({ port })
  proxy.set({ latencyMs: 60 })
  expect((await talk(proxy, 'hello').over()).firstAfterMs).toBeGreaterThan(110)
  proxy.set({ drip: { bytes: 1, everyMs: 15 } })
  const dripped = await talk(proxy, 'hello').over()
  expect(dripped.text).toBe('hello')
  expect(dripped.chunks).toBeGreaterThan(2)
  proxy.set({ refuse: true })
  expect((await talk(proxy, 'hello').over()).end).toBe('ECONNRESET')
})

test('open connections are cut on demand', async () => {
  await using proxy = await tcpProxy({ port })
  const { heard, over } = talk(proxy, 'hello', { close: false })
  await eventually(() => heard.text === 'hello')
  proxy.cut('rst')
  expect((await over()).end).toBe('ECONNRESET')
  await eventually(() => proxy.open() === 0)
})
