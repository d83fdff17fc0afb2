import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ledger } from '@tollgate/contracts'
import { session } from '@tollgate/db/session'
import { eventually } from '@tollgate/testing'
import { type Caller, startWorld, type World } from './test/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

const CREDIT_MICRO = 10_000_000n
const CREDITED_WITHIN = { withinMs: 15_000 }

/** A quote that is about to be paid. */
async function quote() {
  const caller = world.newCaller()
  const intent = await world.topup(caller)
  return { caller, pay: () => world.payer.pay(intent.tokenAmountRaw, intent.reference) }
}

const row = async (text: string, signature: string) =>
  (await world.sql.query<{ found: boolean }>(`select (${text}) as found`, [signature]))[0]?.found === true
const recorded = (signature: string) => row('select count(*) = 1 from billing.payment where signature = $1', signature)
const claimed = (signature: string) =>
  row('select count(*) = 1 from billing.settlement where signature = $1', signature)
const listed = (signature: string) =>
  row('select count(*) = 1 from chain_watcher.sighting where signature = $1', signature)
/** A statement of a service waits for the lock that the test holds. */
const someoneWaits = (role: string) =>
  row("select count(*) > 0 from pg_stat_activity where usename = $1 and wait_event_type = 'Lock'", role)

/** Holds a lock of another session while `meanwhile` runs. */
async function locked(statement: string, meanwhile: () => Promise<void>): Promise<void> {
  await session(world.database.adminUrl, async run => {
    await run('begin')
    await run(statement)
    await meanwhile()
    await run('rollback')
  })
}

async function creditedOnce(caller: Caller, signature: string): Promise<void> {
  await eventually(async () => (await world.balance(caller.acct)) === CREDIT_MICRO, CREDITED_WITHIN)
  await eventually(async () => (await world.paymentState(signature)) === 'credited', CREDITED_WITHIN)
  const journal = { account: caller.acct, kinds: ['credit' as const], before: null, limit: 10 }
  const { entries } = await world.operator.call(ledger.history, journal)
  expect(entries.map(({ id, amountMicro }) => [id, amountMicro])).toEqual([[`credit:${signature}`, CREDIT_MICRO]])
}

test('chain-watcher killed between listing and reading', async () => {
  const { caller, pay } = await quote()
  world.chain.faults.set({ transactionNullCalls: 1_000 })
  const signature = await pay()
  await eventually(() => listed(signature))
  await world.kill('watcher')
  world.chain.faults.reset()
  await world.start('watcher')
  await creditedOnce(caller, signature)
}, 40_000)

test('chain-watcher killed between reading and telling', async () => {
  const { caller, pay } = await quote()
  await world.server.kill9()
  const signature = await pay()
  await eventually(() => row("select state = 'payment' from chain_watcher.sighting where signature = $1", signature), {
    withinMs: 10_000,
  })
  await world.kill('watcher')
  await world.server.restart()
  await world.start('watcher')
  await creditedOnce(caller, signature)
}, 40_000)

test('chain-watcher killed between telling and noting that it told: the fact comes twice, the credit once', async () => {
  const { caller, pay } = await quote()
  const signature = await pay()
  await creditedOnce(caller, signature)
  await world.kill('watcher')
  await world.sql.query('update chain_watcher.sighting set announced = null where signature = $1', [signature])
  await world.start('watcher')
  await eventually(() =>
    row('select announced is not null from chain_watcher.sighting where signature = $1', signature),
  )
  await creditedOnce(caller, signature)
}, 40_000)

test('billing killed before it recorded the payment', async () => {
  const { caller, pay } = await quote()
  let signature = ''
  await locked('lock table billing.payment in exclusive mode', async () => {
    signature = await pay()
    await eventually(() => someoneWaits('billing'))
    await world.kill('billing')
  })
  await world.start('billing')
  await creditedOnce(caller, signature)
}, 40_000)

test('billing killed between recording and claiming', async () => {
  const { caller, pay } = await quote()
  let signature = ''
  await locked('lock table billing.settlement in exclusive mode', async () => {
    signature = await pay()
    await eventually(() => recorded(signature))
    await eventually(() => someoneWaits('billing'))
    await world.kill('billing')
  })
  await world.start('billing')
  await creditedOnce(caller, signature)
}, 40_000)

test('billing killed between claiming and crediting', async () => {
  const { caller, pay } = await quote()
  await world.kill('ledger')
  const signature = await pay()
  await eventually(() => claimed(signature))
  await world.kill('billing')
  await Promise.all([world.start('ledger'), world.start('billing')])
  await creditedOnce(caller, signature)
}, 40_000)

test('billing killed between crediting and noting it', async () => {
  const { caller, pay } = await quote()
  await world.kill('ledger')
  const signature = await pay()
  await eventually(() => claimed(signature))
  await locked(`select from billing.settlement where signature = '${signature}' for update`, async () => {
    await world.start('ledger')
    await eventually(async () => (await world.balance(caller.acct)) === CREDIT_MICRO)
    await eventually(() => someoneWaits('billing'))
    await world.kill('billing')
  })
  await world.start('billing')
  await creditedOnce(caller, signature)
}, 40_000)

test('billing killed between noting the credit and marking the payment', async () => {
  const { caller, pay } = await quote()
  await world.kill('ledger')
  const signature = await pay()
  await eventually(() => claimed(signature))
  await locked(`select from billing.payment where signature = '${signature}' for update`, async () => {
    await world.start('ledger')
    await eventually(() => someoneWaits('billing'))
    await world.kill('billing')
  })
  await world.start('billing')
  await creditedOnce(caller, signature)
}, 40_000)
