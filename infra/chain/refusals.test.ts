import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  ComputeBudgetProgram,
  Keypair,
  LAMPORTS_PER_SOL,
  SendTransactionError,
  SystemProgram,
  Transaction,
} from '@solana/web3.js'
import { startTestClient, type TestClient } from './test-client.ts'

let client: TestClient

beforeAll(() => {
  client = startTestClient({ slotMs: 0 })
})
afterAll(() => client.chain.stop())

const base64 = (wire: Buffer) => wire.toString('base64')
const send = (wire: Buffer, options: object = {}) =>
  client.call('sendTransaction', base64(wire), { encoding: 'base64', ...options })

/** A transfer of more tokens than anyone has: it fails when it runs. */
function impossible(reference = Keypair.generate().publicKey) {
  return client.payment(2n ** 60n, reference)
}

test('a transaction runs once: the second submission is refused as already processed', async () => {
  const wire = await client.sign([client.payment(1n)])
  expect((await send(wire)).result).toBeString()
  const again = await send(wire)
  expect(again.error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: This transaction has already been processed',
    data: { err: 'AlreadyProcessed', logs: [] },
  })
})

test('a blockhash is accepted for 150 further blocks and then refused', async () => {
  const { blockhash, lastValidBlockHeight } = await client.connection.getLatestBlockhash('processed')
  const [inTime, tooLate] = [
    await client.sign([client.payment(2n)], { blockhash }),
    await client.sign([client.payment(3n)], { blockhash }),
  ]
  client.chain.advanceSlots(150)
  expect(await client.connection.getBlockHeight('processed')).toBe(lastValidBlockHeight)
  expect((await send(inTime)).result).toBeString()
  client.chain.advanceSlots(1)
  expect((await send(tooLate)).error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: Blockhash not found',
    data: { err: 'BlockhashNotFound', logs: [] },
  })
  expect((await client.connection.isBlockhashValid(blockhash, { commitment: 'processed' })).value).toBe(false)
})

test('a blockhash of another chain is refused', async () => {
  const wire = await client.sign([client.payment(4n)], { blockhash: Keypair.generate().publicKey.toBase58() })
  expect((await send(wire)).error?.data?.err).toBe('BlockhashNotFound')
})

test('preflight refuses a failing transaction with its error and logs, and it leaves no trace', async () => {
  const reference = Keypair.generate().publicKey
  const reply = await send(await client.sign([impossible(reference)]))
  expect(reply.error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
    data: { err: { InstructionError: [0, { Custom: 1 }] } },
  })
  expect(reply.error?.data?.logs).toContain('Program log: Error: insufficient funds')
  client.chain.advanceSlots(1)
  expect(await client.connection.getSignaturesForAddress(reference)).toEqual([])
})

test('without preflight a failing transaction lands with its error and its fee', async () => {
  const reference = Keypair.generate().publicKey
  const before = await client.connection.getBalance(client.chain.payerWallet.publicKey)
  const reply = await send(await client.sign([impossible(reference)]), { skipPreflight: true })
  client.chain.advanceSlots(1)
  const err = { InstructionError: [0, { Custom: 1 }] }
  expect(await client.connection.getSignaturesForAddress(reference)).toMatchObject([{ signature: reply.result, err }])
  const transaction = await client.connection.getParsedTransaction(String(reply.result))
  expect(transaction?.meta).toMatchObject({ err, fee: 5000 })
  expect(transaction?.meta?.postTokenBalances).toEqual(transaction?.meta?.preTokenBalances ?? [])
  expect(await client.connection.getBalance(client.chain.payerWallet.publicKey)).toBe(before - 5000)
})

test('an unsigned and a wrongly signed transaction fail signature verification', async () => {
  const wire = await client.sign([client.payment(5n)])
  const forged = Buffer.from(wire)
  forged[10] = (forged[10] ?? 0) ^ 1
  expect((await send(forged)).error?.code).toBe(-32003)
  expect((await send(Buffer.concat([wire.subarray(0, 1), Buffer.alloc(64), wire.subarray(65)]))).error?.code).toBe(
    -32003,
  )
})

test('a transaction that no network packet could carry is refused', async () => {
  const oversize = Buffer.concat([await client.sign([client.payment(6n)]), Buffer.alloc(1_000)])
  expect((await send(oversize)).error?.message).toContain('transaction too large')
})

test('simulation reports the outcome without an effect, signed or not', async () => {
  const { connection, chain } = client
  const transaction = new Transaction().add(client.payment(7n))
  transaction.feePayer = chain.payerWallet.publicKey
  const before = await connection.getTokenAccountBalance(client.holdingOf(chain.treasuryWallet.publicKey))
  const simulated = await connection.simulateTransaction(transaction)
  expect(simulated.value.err).toBeNull()
  expect(simulated.value.unitsConsumed).toBeGreaterThan(1000)
  const after = await connection.getTokenAccountBalance(client.holdingOf(chain.treasuryWallet.publicKey))
  expect(after.value).toEqual(before.value)
})

test('web3.js raises a SendTransactionError that carries the logs', async () => {
  const sent = client.connection.sendTransaction(new Transaction().add(impossible()), [client.chain.payerWallet])
  const error = await sent.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(SendTransactionError)
  expect(String(error)).toContain('insufficient funds')
})

test('the fee that is foretold is the fee that is taken, priority included', async () => {
  const { connection, chain } = client
  const poor = Keypair.generate()
  await connection.requestAirdrop(poor.publicKey, LAMPORTS_PER_SOL)
  const transaction = new Transaction().add(
    ComputeBudgetProgram.setComputeUnitLimit({ units: 10_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 250_000 }),
    SystemProgram.transfer({ fromPubkey: poor.publicKey, toPubkey: chain.payerWallet.publicKey, lamports: 1000 }),
  )
  transaction.feePayer = poor.publicKey
  transaction.recentBlockhash = (await connection.getLatestBlockhash('processed')).blockhash
  const foretold = (await connection.getFeeForMessage(transaction.compileMessage())).value
  await connection.sendTransaction(transaction, [poor])
  expect(foretold).toBe(5000 + 2500)
  expect(await connection.getBalance(poor.publicKey)).toBe(LAMPORTS_PER_SOL - 1000 - 7500)
})

test('JSON-RPC: unknown methods, bad parameters, batches and notifications', async () => {
  expect((await client.call('getEverything')).error).toMatchObject({ code: -32601, message: 'Method not found' })
  expect((await client.call('getBalance', 'not an address')).error?.code).toBe(-32602)
  expect((await client.call('getTransaction', '1'.repeat(64), { commitment: 'processed' })).error?.code).toBe(-32602)
  const post = (body: string) => fetch(client.chain.rpc, { method: 'POST', body })
  const batch = await post(
    JSON.stringify([
      { jsonrpc: '2.0', id: 1, method: 'getHealth' },
      { jsonrpc: '2.0', id: 2, method: 'nonsense' },
      { jsonrpc: '2.0', method: 'getHealth' },
    ]),
  )
  expect(await batch.json()).toMatchObject([
    { id: 1, result: 'ok' },
    { id: 2, error: { code: -32601 } },
  ])
  expect(await (await post('{')).json()).toMatchObject({ id: null, error: { code: -32700 } })
})

test('browsers may call it from any origin, and health answers', async () => {
  const preflight = await fetch(client.chain.rpc, { method: 'OPTIONS' })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect((await fetch(`${client.chain.rpc}/health`)).status).toBe(200)
})
