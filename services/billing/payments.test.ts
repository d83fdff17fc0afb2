import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { eventually } from '@tollgate/testing'
import { type Caller, startWorld, type World } from './test/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

/** Runs `bun run payments …` as an operator does. */
async function payments(...argv: string[]) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'payments.ts'), ...argv], {
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: world.database.urls.billing.runtime,
      NATS_URL: world.server.url,
      NATS_PASSWORD: world.server.as('operator').password,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, text: `${out}${err}`.trim() }
}

/** A payment of so much for a fresh quote of 20 tokens, once it has this state. */
async function payment(amountRaw: bigint, state: string, caller: Caller = world.newCaller()) {
  const intent = await world.topup(caller)
  const signature = await world.payer.pay(amountRaw, intent.reference)
  await eventually(async () => (await world.paymentState(signature)) === state)
  return { caller, intent, signature }
}

describe('payments list', () => {
  test('shows what waits for the operator, and not what was credited', async () => {
    const short = await payment(5_000_000n, 'underpaid')
    const paid = await payment(20_000_000n, 'credited')
    const { code, text } = await payments('list')
    expect(code).toBe(0)
    expect(text).toContain(`underpaid  ${short.signature}`)
    expect(text).toContain(`for ${short.caller.acct}, reference ${short.intent.reference}`)
    expect(text).toContain('counts 5 tokens, worth 2.5 USD at that price')
    expect(text).not.toContain(paid.signature)
  }, 20_000)
})

describe('payments credit', () => {
  test("gives a payment's worth once, however often it is said, and takes it off the list", async () => {
    const { caller, signature } = await payment(5_000_000n, 'underpaid')
    const credit = () => payments('credit', signature, '--note', 'agreed by mail')
    expect(await credit()).toEqual({ code: 0, text: `${caller.acct} was credited 2.5 USD` })
    expect((await credit()).code).toBe(0)
    expect(await world.balance(caller.acct)).toBe(2_500_000n)
    expect((await payments('list')).text).not.toContain(signature)
    expect((await payments('list', '--all')).text).toContain('agreed by mail')
    const other = await payments('credit', signature, '--note', 'agreed by mail', '--usd', '100')
    expect([other.code, other.text]).toEqual([1, expect.stringContaining('id_reused')])
    expect(await world.balance(caller.acct)).toBe(2_500_000n)
  }, 20_000)

  test('what was credited so does not count for its intent any more', async () => {
    const { caller, intent, signature } = await payment(12_000_000n, 'underpaid')
    await payments('credit', signature, '--note', 'by hand')
    const rest = await world.payer.pay(8_000_000n, intent.reference)
    await eventually(async () => (await world.paymentState(rest)) === 'underpaid')
    expect(await world.balance(caller.acct)).toBe(6_000_000n)
    const exact = await world.payer.pay(12_000_000n, intent.reference)
    await eventually(async () => (await world.paymentState(exact)) === 'credited')
    expect(await world.balance(caller.acct)).toBe(16_000_000n)
  }, 20_000)

  test('refuses what was credited to its intent', async () => {
    const { caller, signature } = await payment(20_000_000n, 'credited')
    const { code, text } = await payments('credit', signature, '--note', 'again')
    expect([code, text]).toEqual([1, 'this payment was credited to its intent'])
    expect(await world.balance(caller.acct)).toBe(10_000_000n)
  }, 20_000)

  test('refuses what was noted as dealt with otherwise, unless it is forced', async () => {
    const { caller, signature } = await payment(5_000_000n, 'underpaid')
    await payments('note', signature, 'refunded', 'by', 'hand')
    const credit = (...more: string[]) => payments('credit', signature, '--note', 'second operator', ...more)
    const { code, text } = await credit()
    expect([code, text]).toEqual([
      1,
      expect.stringContaining('dealt with without a credit ("refunded by hand"); --force'),
    ])
    expect(await world.balance(caller.acct)).toBe(0n)
    expect((await credit('--force')).code).toBe(0)
    // The same adjustment again.
    expect((await credit()).code).toBe(0)
    expect(await world.balance(caller.acct)).toBe(2_500_000n)
  }, 20_000)

  test.each([
    ['has vanished', "state = 'vanished', settled = false", 'no longer on the chain'],
    ['is not settled', "state = 'processing', settled = false", 'not deep enough'],
    ['has no known time', "state = 'processing'", 'not known yet'],
  ])(
    'refuses what %s, unless it is forced',
    async (_name, set, reason) => {
      const { caller, signature } = await payment(5_000_000n, 'underpaid')
      await world.sql.query(`update billing.payment set ${set} where signature = $1`, [signature])
      const { code, text } = await payments('credit', signature, '--note', 'x')
      expect([code, text]).toEqual([1, expect.stringContaining(reason)])
      expect(await world.balance(caller.acct)).toBe(0n)
      expect((await payments('credit', signature, '--note', 'x', '--force')).code).toBe(0)
      expect(await world.balance(caller.acct)).toBe(2_500_000n)
    },
    20_000,
  )

  test('needs an account and an amount for a payment that names no intent', async () => {
    const signature = await world.payer.pay(3_000_000n)
    await eventually(async () => (await world.paymentState(signature)) === 'unmatched')
    const { acct } = world.newCaller()
    expect((await payments('credit', signature, '--note', 'x')).text).toContain('give --usd and --account')
    const told = ['--usd', '1.5', '--account', acct]
    expect((await payments('credit', signature, '--note', 'x', ...told)).text).toBe(`${acct} was credited 1.5 USD`)
    expect(await world.balance(acct)).toBe(1_500_000n)
  }, 20_000)

  test('gives a payment that names an intent to nobody else', async () => {
    const { signature } = await payment(5_000_000n, 'underpaid')
    const { acct } = world.newCaller()
    expect((await payments('credit', signature, '--note', 'x', '--account', acct)).text).toContain('goes there')
    expect(await world.balance(acct)).toBe(0n)
  }, 20_000)
})

test('payments note takes a payment off the list without a credit', async () => {
  const { caller, signature } = await payment(5_000_000n, 'underpaid')
  expect((await payments('note', signature, 'sent', 'back')).code).toBe(0)
  expect((await payments('list')).text).not.toContain(signature)
  expect((await payments('list', '--all')).text).toContain('sent back')
  expect(await world.balance(caller.acct)).toBe(0n)
}, 20_000)

test('a late payment is listed and credited by command, and its intent stays expired', async () => {
  const caller = world.newCaller()
  const intent = await world.topup(caller)
  await world.sql.query("update billing.intent set expires_at = now() - interval '1 minute' where reference = $1", [
    intent.reference,
  ])
  const signature = await world.payer.pay(20_000_000n, intent.reference)
  await eventually(async () => (await world.paymentState(signature)) === 'late')
  expect((await payments('list')).text).toContain(`late       ${signature}`)
  expect((await payments('credit', signature, '--note', 'paid late')).text).toBe(`${caller.acct} was credited 10 USD`)
  expect(await world.balance(caller.acct)).toBe(10_000_000n)
  const path = `/billing/intents/${intent.reference}`
  const { body } = await world.running.billing.ask<{ intent: { status: string } }>('GET', path, { as: caller })
  expect([body.intent.status, await world.paymentState(signature)]).toEqual(['expired', 'late'])
  const verified = await world.verify(caller, { reference: intent.reference, signature })
  expect([verified.status, verified.body.error?.code]).toEqual([400, 'bad_request'])
  expect(await world.balance(caller.acct)).toBe(10_000_000n)
}, 20_000)

test.each([[], ['give'], ['credit', 'x'], ['list', '--nope']])('%j says how it is used', async (...argv) => {
  const { code, text } = await payments(...argv)
  expect([code, text]).toEqual([1, expect.stringContaining('bun run payments list')])
})
