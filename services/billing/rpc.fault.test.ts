import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { ledger } from '@tollgate/contracts'
import { eventually, tcpProxy } from '@tollgate/testing'
import bs58 from 'bs58'
import { type Caller, startWorld, type World } from './test/world.ts'

const CREDIT_MICRO = 10_000_000n
const RECOVERED = { withinMs: 20_000 }

/** A quote that is paid now. */
async function paid(world: World) {
  const caller = world.newCaller()
  const intent = await world.topup(caller)
  const signature = await world.payer.pay(intent.tokenAmountRaw, intent.reference)
  return { caller, intent, signature }
}

async function creditedOnce(world: World, caller: Caller): Promise<void> {
  await eventually(async () => (await world.balance(caller.acct)) === CREDIT_MICRO, RECOVERED)
  const request = { account: caller.acct, kinds: ['credit' as const], before: null, limit: 10 }
  expect((await world.operator.call(ledger.history, request)).entries).toHaveLength(1)
}

describe('a node that misbehaves', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld({ watcherEnv: { PARKED_RETRY_MS: '500' } })
  }, 60_000)
  afterEach(() => world.chain.faults.reset())
  afterAll(() => world[Symbol.asyncDispose]())

  /** Quotes are made before the fault, paid during it (the payer needs no answer of it), and credited in spite of it. */
  const faults: [string, Parameters<World['chain']['faults']['set']>[0]][] = [
    ['lists a transaction before it has it', { transactionNullCalls: 3 }],
    ['does not know block times', { nullBlockTime: true }],
    ['reorders what it lists', { reorderSignatures: true }],
    ['is silent on its WebSocket', { webSocket: 'silent' }],
    ['refuses WebSockets', { webSocket: 'refused' }],
    ['is slow', { delayMs: 300 }],
  ]
  test.each(faults)(
    '%s',
    async (_name, fault) => {
      world.chain.faults.set(fault)
      if (fault.webSocket) world.chain.faults.dropSockets()
      const payments = [await paid(world), await paid(world), await paid(world)]
      for (const { caller } of payments) await creditedOnce(world, caller)
    },
    40_000,
  )

  const storms: [string, Parameters<World['chain']['faults']['set']>[0]][] = [
    ['answers 429 for a while', { tooManyRequests: 4 }],
    ['answers a web page with status 200 for a while', { htmlAnswers: 4, htmlStatus: 200 }],
    ['answers a web page with status 502 for a while', { htmlAnswers: 4, htmlStatus: 502 }],
  ]
  test.each(storms)(
    '%s',
    async (_name, fault) => {
      const { caller } = await paid(world)
      world.chain.faults.set(fault)
      await creditedOnce(world, caller)
      await creditedOnce(world, (await paid(world)).caller)
    },
    40_000,
  )

  test('can not give a transaction in a version that we read (-32015): it is put aside, and read when that is over', async () => {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    world.chain.faults.set({ unsupportedVersion: true })
    const signature = await world.payer.pay(intent.tokenAmountRaw, intent.reference)
    const parked = "select state = 'parked' as found from chain_watcher.sighting where signature = $1"
    await eventually(async () => (await world.sql.query<{ found: boolean }>(parked, [signature]))[0]?.found, RECOVERED)
    world.chain.faults.reset()
    await creditedOnce(world, caller)
  }, 40_000)

  test('lags behind for a while', async () => {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    world.chain.faults.set({ lagSlots: 60 })
    await world.payer.pay(intent.tokenAmountRaw, intent.reference)
    world.chain.advanceSlots(20)
    expect(await world.balance(caller.acct)).toBe(0n)
    world.chain.faults.reset()
    await creditedOnce(world, caller)
  }, 40_000)

  test('leaves a signature out of its lists for a while, though later ones are listed', async () => {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    const wire = await world.payer.sign([
      world.payer.transfer({ amountRaw: BigInt(intent.tokenAmountRaw), references: [intent.reference] }),
    ])
    world.chain.faults.set({ hiddenSignatures: [bs58.encode(wire.subarray(1, 65))] })
    await world.payer.connection.sendRawTransaction(wire)
    await creditedOnce(world, (await paid(world)).caller)
    expect(await world.balance(caller.acct)).toBe(0n)
    world.chain.faults.set({ hiddenSignatures: [] })
    await creditedOnce(world, caller)
  }, 40_000)

  test('one transaction that nobody can read does not hold up the others', async () => {
    const { signature } = await paid(world)
    await world.sql.query(
      "update chain_watcher.sighting set state = 'parked', due_at = now() + interval '1 hour' where signature = $1",
      [signature],
    )
    await creditedOnce(world, (await paid(world)).caller)
  }, 40_000)
})

describe('a node that is away', () => {
  test('for a long time: all that was paid meanwhile is credited on its return, without anyone asking', async () => {
    await using world = await startWorld({ slotMs: 20 })
    await using proxy = await tcpProxy({ port: Number(new URL(world.chain.rpc).port) })
    await world.kill('watcher')
    await world.start('watcher', { SOLANA_RPC_URLS: `http://${proxy.host}`, SOLANA_WS_URLS: world.chain.ws })
    const quotes = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const caller = world.newCaller()
        return { caller, intent: await world.topup(caller) }
      }),
    )
    proxy.set({ refuse: true })
    proxy.cut('rst')
    for (const { intent } of quotes) await world.payer.pay(intent.tokenAmountRaw, intent.reference)
    // Ten minutes of slots, at the length that they have today.
    world.chain.advanceSlots(2_000)
    const refused = await world.running.billing.ask('POST', '/billing/topup', {
      as: world.newCaller(),
      body: { amount: '10' },
    })
    expect(refused.status).toBe(503)
    proxy.set({})
    for (const { caller } of quotes) await creditedOnce(world, caller)
  }, 60_000)
})

test('a final transaction that the node can not give for a while has not vanished', async () => {
  await using world = await startWorld({ watcherEnv: { COMMITMENT: 'finalized', FINALITY_CHECK_MS: '300' } })
  const caller = world.newCaller()
  const intent = await world.topup(caller)
  const signature = await world.payer.pay(intent.tokenAmountRaw, intent.reference)
  await eventually(async () => (await world.paymentState(signature)) === 'processing')
  world.chain.faults.set({ transactionNullCalls: 1_000 })
  world.chain.advanceSlots(40)
  const text = 'select state, due_at > $2::timestamptz as looked from chain_watcher.sighting where signature = $1'
  const someLooksLater = new Date(Date.now() + 1_500).toISOString()
  const sighting = async () =>
    (await world.sql.query<{ state: string; looked: boolean }>(text, [signature, someLooksLater]))[0]
  await eventually(async () => (await sighting())?.looked)
  expect([(await sighting())?.state, await world.paymentState(signature)]).toEqual(['payment', 'processing'])
  world.chain.faults.reset()
  await creditedOnce(world, caller)
}, 60_000)

describe('a fork that loses', () => {
  test('with COMMITMENT=finalized: nothing is credited for it, and the payment counts when it lands again', async () => {
    await using world = await startWorld({
      watcherEnv: { COMMITMENT: 'finalized', FINALITY_CHECK_MS: '50' },
      slotMs: 100,
    })
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    const wire = await world.payer.sign([
      world.payer.transfer({ amountRaw: BigInt(intent.tokenAmountRaw), references: [intent.reference] }),
    ])
    const signature = await world.payer.connection.sendRawTransaction(wire)
    await eventually(async () => (await world.paymentState(signature)) === 'processing')
    world.chain.faults.rollback(signature)
    await eventually(async () => (await world.paymentState(signature)) === 'vanished', RECOVERED)
    expect(await world.balance(caller.acct)).toBe(0n)
    expect(await world.payer.connection.sendRawTransaction(wire)).toBe(signature)
    await creditedOnce(world, caller)
  }, 60_000)

  test('with COMMITMENT=confirmed: what was credited stays, the operator is told, and landing again changes nothing', async () => {
    await using world = await startWorld({ watcherEnv: { FINALITY_CHECK_MS: '50' }, slotMs: 100 })
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    const wire = await world.payer.sign([
      world.payer.transfer({ amountRaw: BigInt(intent.tokenAmountRaw), references: [intent.reference] }),
    ])
    const signature = await world.payer.connection.sendRawTransaction(wire)
    await creditedOnce(world, caller)
    world.chain.faults.rollback(signature)
    const state = 'select state from chain_watcher.sighting where signature = $1'
    const sighted = async () => (await world.sql.query<{ state: string }>(state, [signature]))[0]?.state
    await eventually(async () => (await sighted()) === 'vanished', RECOVERED)
    await world.payer.connection.sendRawTransaction(wire)
    await eventually(async () => (await sighted()) === 'payment', RECOVERED)
    await creditedOnce(world, caller)
  }, 60_000)
})
