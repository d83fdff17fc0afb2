import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ErrorBody } from '@tollgate/contracts'
import { eventually } from '@tollgate/testing'
import { startWorld, type World } from './test/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

async function refusal(body: unknown) {
  const answer = await world.running.billing.ask<ErrorBody>('POST', '/billing/topup', { as: world.newCaller(), body })
  return [answer.status, answer.body.error.code]
}

describe('a quote', () => {
  test('has every field of interface.md, exact and consistent', async () => {
    const { chain } = world
    const intent = await world.topup(world.newCaller(), '10')
    expect(intent).toEqual({
      reference: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{43,44}$/),
      url: `solana:${chain.treasury}?spl-token=${chain.mint}&amount=20&reference=${intent.reference}`,
      tokenAmount: '20',
      tokenAmountRaw: '20000000',
      decimals: 6,
      mint: chain.mint,
      recipient: chain.treasury,
      network: 'localnet',
      usdAmount: '10',
      price: 0.5,
      expiresAt: expect.any(Number),
      blockhash: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/),
      lastValidBlockHeight: expect.any(Number),
    })
    expect(Math.abs(intent.expiresAt - Date.now() - 15 * 60_000)).toBeLessThan(5_000)
  })

  test.each([
    '0.99',
    '1e3',
    'NaN',
    '-5',
    ' 10',
    '10 ',
    '',
    '1,000',
    '0x10',
    '01',
    '.5',
    '1.',
    `1.${'0'.repeat(30)}`,
    '100000.01',
    '999999999999',
    '10\n',
  ])('of %p is refused with 400', async amount => {
    expect(await refusal({ amount })).toEqual([400, 'bad_request'])
  })

  test.each([10, null, [['10']], {}, true])('of %p, no string, is refused with 400', async amount => {
    expect(await refusal({ amount })).toEqual([400, 'bad_request'])
  })

  test.each(['', '[]', '{', 'null', '"10"'])('with the body %p is refused with 400', async body => {
    expect(await refusal(body)).toEqual([400, 'bad_request'])
  })
})

describe('a payment', () => {
  test('is credited by verify exactly, once', async () => {
    const caller = world.newCaller()
    const intent = await world.topup(caller, '10')
    const signature = await world.payer.pay(intent.tokenAmountRaw, intent.reference)
    const answer = await eventually(async () => {
      const verified = await world.verify(caller, { reference: intent.reference, signature })
      return verified.status === 404 ? null : verified
    })
    expect(answer.body).toMatchObject({ ok: true, creditsMicro: 10_000_000, user: { creditsMicro: 10_000_000 } })
    expect(await world.balance(caller.acct)).toBe(10_000_000n)
    const again = await world.verify(caller, { reference: intent.reference })
    expect([again.status, again.body.error?.message]).toEqual([400, 'this payment is already credited'])
    expect(await world.balance(caller.acct)).toBe(10_000_000n)
  })

  test('is credited within 3 seconds of its confirmation when the browser was closed', async () => {
    const caller = world.newCaller()
    const intent = await world.topup(caller, '10')
    await world.payer.pay(intent.tokenAmountRaw, intent.reference)
    await eventually(async () => (await world.balance(caller.acct)) === 10_000_000n, { withinMs: 3_000 })
    const verified = await world.verify(caller, { reference: intent.reference })
    expect([verified.status, verified.body.creditsMicro]).toEqual([200, 10_000_000])
  })
})
