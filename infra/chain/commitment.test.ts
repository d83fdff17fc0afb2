import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Keypair, type SignaturesForAddressOptions } from '@solana/web3.js'
import { startTestClient, type TestClient } from './test-client.ts'

let client: TestClient

beforeAll(() => {
  client = startTestClient({ slotMs: 0 })
})
afterAll(() => client.chain.stop())

async function pay(reference: Keypair, amountRaw: bigint): Promise<string> {
  return client.connection.sendRawTransaction(await client.sign([client.payment(amountRaw, reference.publicKey)]))
}

test('a transaction is processed at once, confirmed one slot later and finalized after 32', async () => {
  const { chain, connection } = client
  const reference = Keypair.generate()
  const signature = await pay(reference, 1n)
  const status = async () => (await connection.getSignatureStatus(signature)).value
  const readable = async (commitment: 'confirmed' | 'finalized') => ({
    listed: (await connection.getSignaturesForAddress(reference.publicKey, {}, commitment)).length,
    found: (await connection.getTransaction(signature, { commitment, maxSupportedTransactionVersion: 0 })) !== null,
  })

  expect(await status()).toMatchObject({ confirmationStatus: 'processed', confirmations: 0, err: null })
  expect(await readable('confirmed')).toEqual({ listed: 0, found: false })
  chain.advanceSlots(1)
  expect(await status()).toMatchObject({ confirmationStatus: 'confirmed', confirmations: 1 })
  expect(await readable('confirmed')).toEqual({ listed: 1, found: true })
  expect(await readable('finalized')).toEqual({ listed: 0, found: false })
  chain.advanceSlots(31)
  expect(await status()).toMatchObject({ confirmationStatus: 'finalized', confirmations: null })
  expect(await readable('finalized')).toEqual({ listed: 1, found: true })
})

test('signatures come newest first and page by before, until and limit', async () => {
  const { chain, connection } = client
  const reference = Keypair.generate()
  const first = await pay(reference, 1n)
  const second = await pay(reference, 2n)
  chain.advanceSlots(1)
  const third = await pay(reference, 3n)
  chain.advanceSlots(1)
  const list = async (options: SignaturesForAddressOptions) =>
    (await connection.getSignaturesForAddress(reference.publicKey, options)).map(({ signature }) => signature)
  expect(await list({})).toEqual([third, second, first])
  expect(await list({ limit: 2 })).toEqual([third, second])
  expect(await list({ before: third })).toEqual([second, first])
  expect(await list({ until: first })).toEqual([third, second])
  expect(await list({ before: third, until: first })).toEqual([second])
  expect(await list({ before: '1'.repeat(64) })).toEqual([])
})

test('a status is forgotten without searchTransactionHistory', async () => {
  const { chain, connection } = client
  const signature = await pay(Keypair.generate(), 6n)
  chain.advanceSlots(301)
  expect((await connection.getSignatureStatus(signature)).value).toBeNull()
  const searched = await connection.getSignatureStatus(signature, { searchTransactionHistory: true })
  expect(searched.value?.confirmationStatus).toBe('finalized')
})

test('slots, heights and times move together', async () => {
  const { chain, connection } = client
  const slot = await connection.getSlot('processed')
  expect(await connection.getSlot('confirmed')).toBe(slot - 1)
  expect(await connection.getSlot('finalized')).toBe(slot - 32)
  const { absoluteSlot, blockHeight } = await connection.getEpochInfo('processed')
  expect(absoluteSlot).toBe(slot)
  expect(blockHeight).toBeLessThan(slot)

  chain.advanceSlots(1)
  chain.shiftTime(900_000)
  const signature = await pay(Keypair.generate(), 7n)
  chain.advanceSlots(1)
  const { blockTime, slot: landed } = (await connection.getParsedTransaction(signature)) ?? {}
  expect(Math.abs((blockTime ?? 0) - (Date.now() / 1000 + 900))).toBeLessThan(3)
  expect(await connection.getBlockTime(landed ?? 0)).toBe(blockTime ?? 0)
  chain.shiftTime(-900_000)
})
