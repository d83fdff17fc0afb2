import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AccountInfo, Keypair, LAMPORTS_PER_SOL, type Logs } from '@solana/web3.js'
import { eventually } from '@tollgate/process'
import { startTestClient, type TestClient } from './test-client.ts'

let client: TestClient

beforeAll(() => {
  client = startTestClient({ slotMs: 20 })
})
afterAll(() => client.chain.stop())

test('a subscriber to an account sees its new balance', async () => {
  const wallet = Keypair.generate().publicKey
  const seen: AccountInfo<Buffer>[] = []
  const id = client.connection.onAccountChange(wallet, account => seen.push(account), { commitment: 'confirmed' })
  await eventually(() => subscribed('accountSubscribe'))
  await client.connection.requestAirdrop(wallet, LAMPORTS_PER_SOL)
  await eventually(() => seen.length > 0)
  expect(seen[0]?.lamports).toBe(LAMPORTS_PER_SOL)
  await client.connection.removeAccountChangeListener(id)
})

test('a subscriber to logs sees the transactions that mention its address, and no others', async () => {
  const reference = Keypair.generate().publicKey
  const seen: Logs[] = []
  const id = client.connection.onLogs(reference, logs => seen.push(logs), 'processed')
  await eventually(() => subscribed('logsSubscribe'))
  await client.connection.sendRawTransaction(await client.sign([client.payment(1n)]))
  const signature = await client.connection.sendRawTransaction(await client.sign([client.payment(2n, reference)]))
  await eventually(() => seen.length > 0)
  expect(seen).toMatchObject([{ signature, err: null }])
  expect(seen[0]?.logs.join()).toContain('TransferChecked')
  await client.connection.removeOnLogsListener(id)
})

test('a subscriber to slots sees each follow its parent', async () => {
  const seen: { slot: number; parent: number; root: number }[] = []
  const id = client.connection.onSlotChange(slot => seen.push(slot))
  await eventually(() => seen.length >= 3)
  for (const { slot, parent } of seen) expect(parent).toBe(slot - 1)
  const slots = seen.map(({ slot }) => slot)
  expect(slots).toEqual([...new Set(slots)].sort((one, other) => one - other))
  await client.connection.removeSlotChangeListener(id)
})

test('a signature that is confirmed already is told to a late subscriber', async () => {
  const signature = await client.connection.requestAirdrop(Keypair.generate().publicKey, LAMPORTS_PER_SOL)
  await eventually(
    async () => (await client.connection.getSignatureStatus(signature)).value?.confirmationStatus === 'confirmed',
  )
  const told = await new Promise(resolve => client.connection.onSignature(signature, resolve, 'confirmed'))
  expect(told).toEqual({ err: null })
})

test('a raw socket gets replies, refusals and a pong', async () => {
  const socket = new WebSocket(client.chain.ws)
  const replies: unknown[] = []
  socket.onmessage = ({ data }) => replies.push(JSON.parse(String(data)))
  await new Promise(resolve => {
    socket.onopen = resolve
  })
  for (const text of [
    '{"jsonrpc":"2.0","method":"ping"}',
    '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":2,"method":"fooSubscribe"}',
    '{"jsonrpc":"2.0","id":3,"method":"slotUnsubscribe","params":[9999]}',
    'nonsense',
  ]) {
    socket.send(text)
  }
  await eventually(() => replies.length === 4)
  expect(replies).toMatchObject([
    { id: 1, result: 'pong' },
    { id: 2, error: { code: -32601 } },
    { id: 3, result: false },
    { id: null, error: { code: -32600 } },
  ])
  socket.close()
})

/** web3.js subscribes in the background; its own state tells when the node has answered. */
function subscribed(method: string): boolean {
  const { _subscriptionsByHash: all } = client.connection as unknown as {
    _subscriptionsByHash: Record<string, { state: string; method?: string }>
  }
  return Object.entries(all).some(([hash, { state }]) => hash.includes(method) && state === 'subscribed')
}
