import { afterEach, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { eventually } from '@tollgate/testing'
import { backOff, HEALTHY } from './backoff.ts'
import { RpcRefusal, RpcUnavailable } from './faults.ts'
import { openRpc } from './pool.ts'

interface FakeNode {
  url: string
  asked: string[]
  answer: (method: string) => Response | Promise<Response>
}

const servers: ReturnType<typeof Bun.serve>[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => server.stop(true)))
})

/** A node that answers every question as it is told. */
function fakeNode(answer: FakeNode['answer']): FakeNode {
  const node: FakeNode = { url: '', asked: [], answer }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method } = (await request.json()) as { method: string } // what the pool sends
      node.asked.push(method)
      return node.answer(method)
    },
  })
  servers.push(server)
  node.url = `http://127.0.0.1:${server.port}`
  return node
}

const result = (value: unknown) => Response.json({ jsonrpc: '2.0', id: 1, result: value })
const error = (code: number) => Response.json({ jsonrpc: '2.0', id: 1, error: { code, message: 'no' } })
const good = () => fakeNode(() => result(7))
const pool = (nodes: { url: string }[], genesisHash: string | null = null) =>
  openRpc({ urls: nodes.map(({ url }) => url), genesisHash })
const ask = (rpc: ReturnType<typeof pool>, deadlineMs = 2_000) => rpc.ask('getSlot', [], Type.Integer(), { deadlineMs })

const troubles: [string, FakeNode['answer']][] = [
  ['429', () => new Response('slow down', { status: 429 })],
  ['a JSON 429 in a 200', () => error(429)],
  ['a web page', () => new Response('<html>maintenance</html>', { headers: { 'content-type': 'text/html' } })],
  ['a web page with 502', () => new Response('<html></html>', { status: 502 })],
  ['nothing of JSON-RPC', () => Response.json({ hello: 1 })],
  ['an empty body', () => new Response('')],
  ['"behind by 900 slots"', () => error(-32005)],
  ['a result of another shape', () => result('seven')],
]
test.each(troubles)('an endpoint that answers %s is left for the next', async (_name, answer) => {
  const bad = fakeNode(answer)
  const rpc = pool([bad, good()])
  expect(await ask(rpc)).toBe(7)
  expect(await ask(rpc)).toBe(7)
  expect(bad.asked).toHaveLength(1)
})

test('the preferred endpoint is used again when its back-off is over', async () => {
  const preferred = fakeNode(() => error(-32005))
  const rpc = pool([preferred, good()])
  await ask(rpc)
  preferred.answer = () => result(8)
  await eventually(async () => (await ask(rpc)) === 8)
})

test('a single endpoint is asked again after its back-off, until the deadline', async () => {
  let answers = 0
  const node = fakeNode(() => (++answers < 3 ? new Response('', { status: 429 }) : result(7)))
  expect(await ask(pool([node]), 5_000)).toBe(7)
  const away = pool([{ url: 'http://127.0.0.1:1' }])
  const started = performance.now()
  await expect(ask(away, 600)).rejects.toThrow(RpcUnavailable)
  expect(performance.now() - started).toBeLessThan(700)
})

test('questions that fail together back off once', async () => {
  const node: FakeNode = fakeNode(() => (node.asked.length <= 20 ? new Response('', { status: 429 }) : result(7)))
  const rpc = pool([node])
  const started = performance.now()
  await Promise.all(Array.from({ length: 20 }, () => ask(rpc)))
  expect(performance.now() - started).toBeLessThan(1_000)
})

test('retry-after is obeyed, and the caller is told soon instead of waiting for it', async () => {
  const node = fakeNode(() => new Response('', { status: 429, headers: { 'retry-after': '30' } }))
  const rpc = pool([node])
  await expect(ask(rpc)).rejects.toThrow(RpcUnavailable)
  await expect(ask(rpc)).rejects.toThrow(RpcUnavailable)
  expect(node.asked).toHaveLength(1)
})

test('a refusal is not asked again, here or elsewhere', async () => {
  const refusing = fakeNode(() => error(-32015))
  const other = good()
  const rpc = pool([refusing, other])
  await expect(ask(rpc)).rejects.toThrow(RpcRefusal)
  expect([refusing.asked.length, other.asked.length]).toEqual([1, 0])
})

test('an endpoint of another chain is never asked anything but who it is', async () => {
  const answerOf = (genesis: string) => (method: string) => result(method === 'getGenesisHash' ? genesis : 7)
  const foreign = fakeNode(answerOf('devnet'))
  const right = fakeNode(answerOf('mainnet'))
  expect(await ask(pool([foreign, right], 'mainnet'))).toBe(7)
  expect(foreign.asked).toEqual(['getGenesisHash'])
  expect(right.asked).toEqual(['getGenesisHash', 'getSlot'])
  await expect(ask(pool([foreign], 'mainnet'), 300)).rejects.toThrow(RpcUnavailable)
  expect(new Set(foreign.asked)).toEqual(new Set(['getGenesisHash']))
})

test('back-offs double up to a bound, with jitter, and never undercut what the endpoint asked for', () => {
  const waits: number[] = []
  let state = HEALTHY
  for (let failure = 0; failure < 8; failure++) {
    state = backOff(state, 1_000, null, 0.999)
    waits.push(Math.round(state.until - 1_000))
  }
  expect(waits).toEqual([250, 500, 1_000, 1_999, 2_998, 2_998, 2_998, 2_998].map(wait => expect.closeTo(wait, -1)))
  expect(backOff(HEALTHY, 0, null, 0).until).toBe(125)
  expect(backOff(HEALTHY, 0, 9_000, 0).until).toBe(9_000)
})
