import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ErrorBody, IntentDetailAnswer, IntentList, TopupAnswer, WireOf } from '@tollgate/contracts'
import { eventually } from '@tollgate/testing'
import { type Caller, startWorld, type World } from './test/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

async function get<Body>(as: Caller, path: string): Promise<Body> {
  return (await world.running.billing.ask<Body>('GET', `/billing/${path}`, { as })).body
}
const detailOf = async (as: Caller, reference: string) =>
  (await get<WireOf<typeof IntentDetailAnswer>>(as, `intents/${reference}`)).intent

describe('an intent shows', () => {
  test('that it waits', async () => {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    expect(await detailOf(caller, intent.reference)).toEqual({
      ...intent,
      status: 'awaiting',
      exception: 'none',
      createdAt: intent.expiresAt - 900_000,
      receivedRaw: '0',
      missingRaw: '20000000',
      creditsMicro: null,
      payments: [],
      timeline: [{ event: 'created', at: intent.expiresAt - 900_000 }],
    })
  })

  test('what was received, what is missing, and at last the credit', async () => {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    const first = await world.payer.pay(8_000_000n, intent.reference)
    await eventually(async () => (await world.paymentState(first)) === 'underpaid')
    expect(await detailOf(caller, intent.reference)).toMatchObject({
      status: 'awaiting',
      exception: 'underpaid',
      receivedRaw: '8000000',
      missingRaw: '12000000',
      payments: [{ signature: first, amountRaw: '8000000', state: 'underpaid' }],
    })
    const second = await world.payer.pay(13_000_000n, intent.reference)
    await eventually(async () => (await world.paymentState(second)) === 'credited')
    const detail = await detailOf(caller, intent.reference)
    expect(detail).toMatchObject({
      status: 'credited',
      exception: 'overpaid',
      receivedRaw: '21000000',
      missingRaw: '0',
      creditsMicro: 10_500_000,
    })
    expect(detail.timeline.map(({ event }) => event)).toEqual(['created', 'payment_seen', 'payment_seen', 'credited'])
    expect(detail.timeline.map(({ at }) => at)).toEqual(detail.timeline.map(({ at }) => at).toSorted((a, b) => a - b))
  })

  test('nothing to anybody else', async () => {
    const { reference } = await world.topup(world.newCaller())
    for (const [method, path] of [
      ['GET', reference],
      ['POST', `${reference}/blockhash`],
    ]) {
      const as = world.newCaller()
      const answer = await world.running.billing.ask<ErrorBody>(method ?? '', `/billing/intents/${path}`, { as })
      expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
    }
  })
})

test('the list is newest first, in pages, and only of the caller', async () => {
  const caller = world.newCaller()
  await world.topup(world.newCaller())
  const references: string[] = []
  for (let count = 0; count < 5; count++) references.unshift((await world.topup(caller)).reference)
  const pages: string[][] = []
  let next: string | null = null
  do {
    const page: WireOf<typeof IntentList> = await get(caller, `intents?limit=2${next ? `&before=${next}` : ''}`)
    pages.push(page.data.map(({ reference }) => reference))
    next = page.next
  } while (next !== null && pages.length < 10)
  expect(pages.map(page => page.length)).toEqual([2, 2, 1])
  expect(pages.flat()).toEqual(references)
})

test.each(['limit=0', 'limit=101', 'limit=many', 'before=nonsense'])('?%s is refused with 400', async query => {
  const as = world.newCaller()
  const answer = await world.running.billing.ask<ErrorBody>('GET', `/billing/intents?${query}`, { as })
  expect([answer.status, answer.body.error.code]).toEqual([400, 'bad_request'])
})

test('a stale blockhash is replaced, and nothing else of the quote', async () => {
  const caller = world.newCaller()
  const intent = await world.topup(caller)
  world.chain.advanceSlots(200)
  const path = `/billing/intents/${intent.reference}/blockhash`
  const fresh = await eventually(async () => {
    const answer = await world.running.billing.ask<WireOf<typeof TopupAnswer>>('POST', path, { as: caller })
    return answer.body.intent.blockhash !== intent.blockhash && answer.body.intent
  })
  const { blockhash, lastValidBlockHeight, ...quote } = fresh
  expect(intent).toMatchObject(quote)
  expect(lastValidBlockHeight).toBeGreaterThan(intent.lastValidBlockHeight)
  expect((await world.payer.connection.isBlockhashValid(blockhash)).value).toBe(true)
})

test('an account has at most so many open quotes; paying one makes room', async () => {
  await using other = await world.startBilling({ OPEN_INTENTS_MAX: '2' })
  const caller = world.newCaller()
  const first = await world.topup(caller, '10', other)
  await world.topup(caller, '10', other)
  const third = await other.ask<ErrorBody>('POST', '/billing/topup', { as: caller, body: { amount: '10' } })
  expect([third.status, third.body.error.code]).toEqual([429, 'rate_limited'])
  const signature = await world.payer.pay(first.tokenAmountRaw, first.reference)
  await eventually(async () => (await world.paymentState(signature)) === 'credited')
  await world.topup(caller, '10', other)
})
