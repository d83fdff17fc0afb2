import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { Connection, Keypair } from '@solana/web3.js'
import { eventually } from '@tollgate/process'
import { startTestClient, type TestClient } from './test-client.ts'

let client: TestClient

beforeAll(() => {
  client = startTestClient({ slotMs: 0, faultsOverHttp: true })
})
afterAll(() => client.chain.stop())
afterEach(() => client.chain.faults.reset())

/** A confirmed payment with a fresh reference. */
async function paid(amountRaw: bigint) {
  const reference = Keypair.generate().publicKey
  const signature = await client.connection.sendRawTransaction(
    await client.sign([client.payment(amountRaw, reference)]),
  )
  client.chain.advanceSlots(1)
  const listed = async () => (await client.connection.getSignaturesForAddress(reference)).map(entry => entry.signature)
  return { reference, signature, listed }
}

test('a listed transaction is denied for as many calls as wanted', async () => {
  const { signature, listed } = await paid(1n)
  client.chain.faults.set({ transactionNullCalls: 2 })
  expect(await listed()).toEqual([signature])
  const found = []
  for (let call = 0; call < 3; call++) found.push((await client.connection.getTransaction(signature)) !== null)
  expect(found).toEqual([false, false, true])
})

test('signatures come in another order, or not at all', async () => {
  const reference = Keypair.generate().publicKey
  const send = async (amount: bigint) =>
    client.connection.sendRawTransaction(await client.sign([client.payment(amount, reference)]))
  const [first, second] = [await send(2n), await send(3n)]
  client.chain.advanceSlots(1)
  const listed = async () => (await client.connection.getSignaturesForAddress(reference)).map(entry => entry.signature)
  expect(await listed()).toEqual([second, first])
  client.chain.faults.set({ reorderSignatures: true })
  expect(await listed()).toEqual([first, second])
  client.chain.faults.set({ hiddenSignatures: [first] })
  expect(await listed()).toEqual([second])
})

test('a version is demanded that the client does not offer', async () => {
  const { signature } = await paid(4n)
  client.chain.faults.set({ unsupportedVersion: true })
  const reply = await client.call('getTransaction', signature, {
    commitment: 'confirmed',
    maxSupportedTransactionVersion: 0,
  })
  expect(reply.error?.code).toBe(-32015)
})

test('block times are missing', async () => {
  const { signature, reference } = await paid(5n)
  client.chain.faults.set({ nullBlockTime: true })
  expect((await client.connection.getTransaction(signature))?.blockTime).toBeNull()
  expect((await client.connection.getSignaturesForAddress(reference))[0]?.blockTime).toBeNull()
})

test('a lagging node does not know the newest transactions', async () => {
  const { signature, listed } = await paid(6n)
  client.chain.faults.set({ lagSlots: 10 })
  expect(await listed()).toEqual([])
  expect(await client.connection.getTransaction(signature)).toBeNull()
  expect((await client.connection.getSignatureStatus(signature)).value).toBeNull()
  expect((await client.call('getHealth')).error?.code).toBe(-32005)
  client.chain.advanceSlots(10)
  expect(await listed()).toEqual([signature])
})

test('a rollback undoes a confirmed payment and all later ones, and they can be sent again', async () => {
  const treasury = client.holdingOf(client.chain.treasuryWallet.publicKey)
  const balance = async () => (await client.connection.getTokenAccountBalance(treasury)).value.amount
  const before = await balance()
  const wire = await client.sign([client.payment(1000n)])
  const signature = await client.connection.sendRawTransaction(wire)
  client.chain.advanceSlots(1)
  const later = await paid(2000n)
  expect(client.chain.faults.rollback(signature)).toEqual([signature, later.signature])
  expect(await balance()).toBe(before)
  expect(await later.listed()).toEqual([])
  expect((await client.connection.getSignatureStatus(signature)).value).toBeNull()
  expect(await client.connection.sendRawTransaction(wire)).toBe(signature)
  expect(BigInt(await balance()) - BigInt(before)).toBe(1000n)
})

test('requests answer 429 or a web page for as many calls as wanted', async () => {
  const status = async () => (await fetch(client.chain.rpc, { method: 'POST', body: '{}' })).status
  client.chain.faults.set({ tooManyRequests: 2 })
  expect([await status(), await status(), await status()]).toEqual([429, 429, 200])
  client.chain.faults.set({ htmlAnswers: 1, htmlStatus: 502 })
  const page = await fetch(client.chain.rpc, { method: 'POST', body: '{}' })
  expect([page.status, page.headers.get('content-type')]).toEqual([502, 'text/html'])
  expect(await status()).toBe(200)
})

test('answers come late', async () => {
  client.chain.faults.set({ delayMs: 80 })
  const asked = performance.now()
  await client.call('getHealth')
  expect(performance.now() - asked).toBeGreaterThanOrEqual(79)
})

test('a node that is down refuses connections and comes back on the same ports', async () => {
  client.chain.faults.goDown(60_000)
  const health = () =>
    fetch(`${client.chain.rpc}/health`).then(
      ({ status }) => status,
      () => null,
    )
  expect(await health()).toBeNull()
  client.chain.faults.goDown(0)
  expect(await health()).toBe(200)
  client.chain.faults.goDown(300)
  expect(await health()).toBeNull()
  await eventually(async () => (await health()) === 200)
})

test('sockets are cut, refused or silent', async () => {
  const connect = () =>
    new Promise<WebSocket | null>(resolve => {
      const socket = new WebSocket(client.chain.ws)
      socket.onopen = () => resolve(socket)
      socket.onerror = () => resolve(null)
    })
  const socket = await connect()
  const closed = new Promise(resolve => socket?.addEventListener('close', resolve))
  client.chain.faults.dropSockets()
  await closed
  client.chain.faults.set({ webSocket: 'refused' })
  expect(await connect()).toBeNull()
  client.chain.faults.set({ webSocket: 'silent' })
  const silent = await connect()
  const messages: string[] = []
  silent?.addEventListener('message', ({ data }) => messages.push(String(data)))
  silent?.send('{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}')
  await eventually(() => messages.length === 1)
  client.chain.advanceSlots(1)
  silent?.send('{"jsonrpc":"2.0","id":2,"method":"ping"}')
  await eventually(() => messages.length === 2)
  expect(JSON.parse(messages[1] ?? '')).toMatchObject({ id: 2, result: 'pong' })
  silent?.close()
})

test('faults are controlled over HTTP only where that is allowed', async () => {
  const patch = (url: string, body: object) => fetch(`${url}/faults`, { method: 'PATCH', body: JSON.stringify(body) })
  const set = await patch(client.chain.rpc, { lagSlots: 3 })
  expect(await set.json()).toMatchObject({ lagSlots: 3, nullBlockTime: false })
  expect((await patch(client.chain.rpc, { lagSlots: 'three' })).status).toBe(400)
  expect((await patch(client.chain.rpc, { gravity: 1 })).status).toBe(400)
  await fetch(`${client.chain.rpc}/faults`, { method: 'DELETE' })
  expect(client.chain.faults.settings().lagSlots).toBe(0)
  const { signature, listed } = await paid(7n)
  const undone = await fetch(`${client.chain.rpc}/faults/rollback`, {
    method: 'POST',
    body: JSON.stringify({ signature }),
  })
  expect(await undone.json()).toEqual({ rolledBack: [signature] })
  expect(await listed()).toEqual([])

  const usual = startTestClient({ slotMs: 0 })
  expect((await patch(usual.chain.rpc, { lagSlots: 3 })).status).toBe(405)
  expect(await new Connection(usual.chain.rpc).getGenesisHash()).toBe(usual.chain.genesisHash)
  usual.chain.stop()
})
