import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Keypair } from '@solana/web3.js'
import { eventually } from '@tollgate/testing'
import bs58 from 'bs58'
import { type Caller, startWorld, type World } from './test/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

/** [status, code or credits, message] of a verify. */
async function outcome(caller: Caller, body: unknown) {
  const { status, body: answer } = await world.verify(caller, body)
  return answer.error ? [status, answer.error.code, answer.error.message] : [status, answer.creditsMicro]
}

/** A quote that was paid and credited by the scan. */
async function credited() {
  const caller = world.newCaller()
  const intent = await world.topup(caller)
  const signature = await world.payer.pay(intent.tokenAmountRaw, intent.reference)
  await eventually(async () => (await world.paymentState(signature)) === 'credited')
  return { caller, intent, signature }
}

const ALREADY = [400, 'bad_request', 'this payment is already credited']
const UNKNOWN = [404, 'not_found', 'there is no such top-up']

describe('who may verify what', () => {
  test('an unknown reference is 404', async () => {
    const reference = Keypair.generate().publicKey.toBase58()
    expect(await outcome(world.newCaller(), { reference })).toEqual(UNKNOWN)
  })

  test("a stranger's intent is 404 like an unknown one, and credits its owner all the same", async () => {
    const { caller, intent, signature } = await credited()
    expect(await outcome(world.newCaller(), { reference: intent.reference, signature })).toEqual(UNKNOWN)
    expect(await outcome(caller, { reference: intent.reference })).toEqual([200, 10_000_000])
  })

  test.each([
    {},
    { reference: 5 },
    { reference: '' },
    { reference: 'not base58 !' },
    { reference: bs58.encode(Buffer.alloc(31, 1)) },
    { reference: Keypair.generate().publicKey.toBase58(), signature: 'short' },
    { reference: Keypair.generate().publicKey.toBase58(), signature: 7 },
    '',
    '[]',
  ])('%j is refused with 400', async body => {
    expect((await outcome(world.newCaller(), body)).slice(0, 2)).toEqual([400, 'bad_request'])
  })
})

describe('what verify answers', () => {
  test('no payment yet is 404 and says when to come again', async () => {
    const caller = world.newCaller()
    const { reference } = await world.topup(caller)
    const { status, headers } = await world.verify(caller, { reference })
    expect([status, headers.get('retry-after')]).toEqual([404, '2'])
  })

  test("the owner's first verify is 200, whoever credited it; the next is refused", async () => {
    const { caller, intent, signature } = await credited()
    expect(await outcome(caller, { reference: intent.reference, signature })).toEqual([200, 10_000_000])
    expect(await outcome(caller, { reference: intent.reference, signature })).toEqual(ALREADY)
    expect(await outcome(caller, { reference: intent.reference })).toEqual(ALREADY)
    expect(await world.balance(caller.acct)).toBe(10_000_000n)
  })

  test('a signature that was credited is refused for any other intent', async () => {
    const { caller, signature } = await credited()
    const other = await world.topup(caller)
    expect(await outcome(caller, { reference: other.reference, signature })).toEqual(ALREADY)
    expect(await world.balance(caller.acct)).toBe(10_000_000n)
  })

  test("somebody else's payment as the hint finds nothing and moves nothing", async () => {
    const caller = world.newCaller()
    const { reference } = await world.topup(caller)
    const foreign = await world.payer.pay(20_000_000n)
    expect((await outcome(caller, { reference, signature: foreign })).slice(0, 2)).toEqual([404, 'not_found'])
    expect(await world.balance(caller.acct)).toBe(0n)
  })

  test('a signature that is on no chain is only a hint: the payment is found by its reference', async () => {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    await world.payer.pay(intent.tokenAmountRaw, intent.reference)
    const signature = bs58.encode(Buffer.alloc(64, 7))
    await eventually(async () => {
      expect(await outcome(caller, { reference: intent.reference, signature })).toEqual([200, 10_000_000])
      return true
    })
  })

  test('a short payment is told what is missing', async () => {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    const signature = await world.payer.pay(BigInt(intent.tokenAmountRaw) - 1_500_000n, intent.reference)
    await eventually(async () => (await world.paymentState(signature)) === 'underpaid')
    expect(await outcome(caller, { reference: intent.reference })).toEqual([
      400,
      'bad_request',
      'the payment is short by 1.5 tokens; send them with the same reference',
    ])
  })
})

describe('the expiry', () => {
  /** Pays with a block time `seconds` after the last second of the quote. */
  async function payAfter(seconds: number) {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    const lastSecondMs = Math.floor(intent.expiresAt / 1_000) * 1_000
    // Some way into the second, so that the little time until it lands does not matter.
    const shiftMs = lastSecondMs + seconds * 1_000 + 200 - Date.now()
    world.chain.shiftTime(shiftMs)
    const signature = await world.payer.pay(intent.tokenAmountRaw, intent.reference)
    world.chain.shiftTime(-shiftMs)
    await eventually(async () => ['credited', 'late'].includes((await world.paymentState(signature)) ?? ''))
    return { caller, intent, state: await world.paymentState(signature) }
  }

  test('a block time in the last second is in time', async () => {
    const { caller, state } = await payAfter(0)
    expect([state, await world.balance(caller.acct)]).toEqual(['credited', 10_000_000n])
  })

  test('a block time one second later is late, and nothing is credited', async () => {
    const { caller, intent, state } = await payAfter(1)
    expect([state, await world.balance(caller.acct)]).toEqual(['late', 0n])
    expect((await outcome(caller, { reference: intent.reference })).slice(0, 2)).toEqual([400, 'bad_request'])
  })
})

test('100 verifies at once on two billing replicas, while the watcher sees it too: one credit, one 200', async () => {
  await using second = await world.startBilling()
  const caller = world.newCaller()
  const intent = await world.topup(caller)
  const signature = await world.payer.pay(intent.tokenAmountRaw, intent.reference)
  await eventually(async () => (await world.payer.connection.getSignatureStatus(signature)).value !== null)
  const body = { reference: intent.reference, signature }
  const answers = await eventually(async () => {
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        world.verify(caller, body, index % 2 === 0 ? world.running.billing : second),
      ),
    )
    // Before it is confirmed, nobody finds it: then the round says nothing.
    return all.every(({ status }) => status === 404) ? null : all
  })
  const count = (status: number) => answers.filter(answer => answer.status === status).length
  expect(count(200)).toBe(1)
  expect(count(400) + count(404)).toBe(99)
  expect(await world.balance(caller.acct)).toBe(10_000_000n)
}, 30_000)

test('a second payment that completes a short one is found by verify at once, by its signature or without', async () => {
  for (const hint of [true, false]) {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    const short = await world.payer.pay(5_000_000n, intent.reference)
    await eventually(async () => (await world.paymentState(short)) === 'underpaid')
    const rest = await world.payer.pay(15_000_000n, intent.reference)
    const body = { reference: intent.reference, ...(hint && { signature: rest }) }
    await eventually(async () => expect(await outcome(caller, body)).toEqual([200, 10_000_000]) ?? true)
  }
})

test('dust that names the reference does not keep verify from the signature, without any scan', async () => {
  const caller = world.newCaller()
  const intent = await world.topup(caller)
  const dust = await world.payer.pay(1n, intent.reference)
  await eventually(async () => (await world.paymentState(dust)) === 'underpaid')
  world.chain.faults.set({ webSocket: 'refused' })
  world.chain.faults.dropSockets()
  await world.kill('watcher')
  const marker = await world.payer.pay(2n)
  await world.start('watcher', { SCAN_INTERVAL_MS: '3600000' })
  // The first scan is over, and no other comes.
  await eventually(async () => (await world.paymentState(marker)) === 'unmatched')
  const signature = await world.payer.pay(intent.tokenAmountRaw, intent.reference)
  await eventually(async () => {
    expect(await outcome(caller, { reference: intent.reference, signature })).toEqual([200, 10_000_000])
    return true
  })
  world.chain.faults.reset()
  await world.kill('watcher')
  await world.start('watcher')
})
