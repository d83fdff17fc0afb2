import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { connectBus } from '@tollgate/bus'
import { Payment, paymentVanished } from '@tollgate/contracts'
import { openDatabase } from '@tollgate/db'
import { eventually } from '@tollgate/testing'
import { createStore } from './store.ts'
import { startWorld, type World } from './test/world.ts'

let world: World
beforeAll(async () => {
  // Slow enough that nothing becomes final by itself while a test looks.
  world = await startWorld({ slotMs: 200 })
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

const settlements = async (signature: string) => {
  const text = 'select intent from billing.settlement where $1 = any(signatures)'
  return (await world.sql.query(text, [signature])).length
}

async function tellVanished(signature: string): Promise<void> {
  const bus = await connectBus({ ...world.server.as('chain-watcher'), name: 'test', user: 'chain-watcher' })
  const fact = { v: 1 as const, network: 'localnet', signature, at: Date.now() }
  await bus.publish(paymentVanished, fact, { id: `${signature}:vanished` })
  await bus.close()
}

test('a payment that vanishes between claim and credit is not credited until it lands again', async () => {
  const caller = world.newCaller()
  const intent = await world.topup(caller)
  await world.kill('ledger')
  const signature = await world.payer.pay(intent.tokenAmountRaw, intent.reference)
  await eventually(async () => (await settlements(signature)) === 1, { withinMs: 15_000 })
  await world.kill('watcher')
  await tellVanished(signature)
  await eventually(async () => (await world.paymentState(signature)) === 'vanished', { withinMs: 20_000 })
  await world.start('ledger')

  // A verify takes the same steps as the sweep, and answers when it has.
  expect((await world.verify(caller, { reference: intent.reference })).status).toBe(404)
  expect([await world.paymentState(signature), await world.balance(caller.acct)]).toEqual(['vanished', 0n])

  await world.sql.query("update chain_watcher.sighting set state = 'vanished' where signature = $1", [signature])
  world.chain.advanceSlots(40)
  await world.start('watcher')
  await eventually(async () => (await world.paymentState(signature)) === 'credited', { withinMs: 20_000 })
  expect(await world.balance(caller.acct)).toBe(10_000_000n)
}, 60_000)

/** A short payment, as the watcher told it, and the store that billing keeps it in. */
async function shortPayment() {
  const intent = await world.topup(world.newCaller())
  const signature = await world.payer.pay(5_000_000n, intent.reference)
  await eventually(async () => (await world.paymentState(signature)) === 'underpaid')
  const text = 'select payment from chain_watcher.sighting where signature = $1'
  const [row] = await world.sql.query<{ payment: unknown }>(text, [signature])
  const seen = { ...Value.Decode(Payment, row?.payment), commitment: 'confirmed' as const }
  const url = world.database.urls.billing.runtime
  const database = openDatabase({ url, connections: 1, applicationName: 'test' })
  const store = createStore(database)
  const [asked] = await store.named(seen)
  if (!asked) throw new Error('the payment names no intent')
  return { signature, seen, asked, store, [Symbol.asyncDispose]: () => database.close() }
}

test('a payment that vanishes between the look at it and the claim is not claimed', async () => {
  await using short = await shortPayment()
  const { signature, store, asked } = short
  await store.vanish(signature)
  await store.claim(asked.id, { signature, signatures: [signature], receivedRaw: 5_000_000n, amountMicro: 2_500_000n })
  expect(await settlements(signature)).toBe(0)
})

test.each([
  ['the fact of before, delivered again', 'vanished', {}],
  ['a fact of an earlier landing', 'vanished', { slot: 1 }],
  ['a later landing', 'underpaid', { slot: 1_000_000 }],
  ['finality', 'underpaid', { commitment: 'finalized' as const }],
])('after a payment vanished, %s leaves it %s', async (_name, state, change) => {
  await using short = await shortPayment()
  const { signature, seen, asked, store } = short
  await store.vanish(signature)
  await store.record({ ...seen, ...change }, { intent: asked, attributedRaw: 5_000_000n })
  // The sweep takes up what has come back.
  await eventually(async () => (await world.paymentState(signature)) !== 'received')
  expect(await world.paymentState(signature)).toBe(state)
})
