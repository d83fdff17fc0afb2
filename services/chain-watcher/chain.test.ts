import { afterEach, expect, test } from 'bun:test'
import { readChain } from './chain.ts'
import { openRpc } from './rpc/pool.ts'

const servers: ReturnType<typeof Bun.serve>[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => server.stop(true)))
})

/** A node that knows these transactions, as finalized, or refuses every question. */
function nodeWith(known: string[] | 'refusing'): string {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, params } = (await request.json()) as { method: string; params: [string | string[]] } // the pool's
      const [asked] = params
      if (known === 'refusing') return Response.json({ jsonrpc: '2.0', id: 1, error: { code: -32011, message: 'no' } })
      if (method === 'getTransaction') return result(known.includes(String(asked)) ? { signature: asked } : null)
      const status = (signature: string) =>
        known.includes(signature) ? { slot: 1, confirmationStatus: 'finalized' } : null
      return result({ value: [asked].flat().map(status) })
    },
  })
  servers.push(server)
  return `http://127.0.0.1:${server.port}`
}
const result = (value: unknown) => Response.json({ jsonrpc: '2.0', id: 1, result: value })
const chainOf = (...nodes: Parameters<typeof nodeWith>[0][]) =>
  readChain(openRpc({ urls: nodes.map(nodeWith), genesisHash: null }))

test('a transaction that one node does not know is asked of the others', async () => {
  const chain = chainOf(['a'], 'refusing', ['b'])
  expect([...(await chain.depths(['a', 'b', 'c']))]).toEqual([
    ['a', 'finalized'],
    ['b', 'finalized'],
  ])
  expect(await chain.transaction('b', 'finalized')).toEqual({ signature: 'b' })
  expect(await chain.transaction('c', 'finalized')).toBeNull()
})

test('what the preferred node refuses is refused', async () => {
  expect(chainOf('refusing', ['a']).transaction('a', 'finalized')).rejects.toThrow('-32011')
})
