import { describe, expect, test } from 'bun:test'
import { type Asked, assess, attribute, type PaymentState, type Received, type SeenPayment } from './matching.ts'

const EXPIRES_MS = 1_000_000
const intent: Asked = {
  id: 'int_1',
  reference: 'ref1',
  usdMicro: 10_000_000n,
  tokenRaw: 20_000_000n,
  priceScaled: 5n * 10n ** 17n,
  decimals: 6,
  expiresAtMs: EXPIRES_MS,
}

let slot = 0
const paid = (signature: string, attributedRaw: bigint, more: Partial<Received> = {}): Received => ({
  signature,
  attributedRaw,
  slot: slot++,
  blockTimeMs: EXPIRES_MS - 1_000,
  receivedAtMs: EXPIRES_MS - 500,
  settled: true,
  vanished: false,
  resolved: false,
  ...more,
})
const statesOf = (received: Received[], claimed: string[] | null = null) =>
  Object.fromEntries(assess(intent, received, claimed).states)

describe('what payments amount to', () => {
  test('the first ones that reach the quote are claimed under the last one, the others are too many', () => {
    const received = [paid('a', 5_000_000n), paid('b', 15_000_001n), paid('c', 20_000_000n)]
    const { states, claim } = assess(intent, received, null)
    expect(Object.fromEntries(states)).toEqual({ a: 'credited', b: 'credited', c: 'multiple' })
    expect(claim).toEqual({
      signature: 'b',
      signatures: ['a', 'b'],
      receivedRaw: 20_000_001n,
      amountMicro: 10_000_000n,
    })
  })

  test('the order is that of the chain, whatever order they were heard in', () => {
    const late = paid('late', 20_000_000n, { slot: 900 })
    const early = paid('early', 20_000_000n, { slot: 800 })
    expect(assess(intent, [late, early], null).claim?.signature).toBe('early')
  })

  const times: [string, Partial<Received>, PaymentState][] = [
    ['in the last millisecond', { blockTimeMs: EXPIRES_MS }, 'credited'],
    ['a second late', { blockTimeMs: EXPIRES_MS + 1_000 }, 'late'],
    ['of unknown time, heard of in time', { blockTimeMs: null }, 'credited'],
    ['of unknown time, heard of late', { blockTimeMs: null, receivedAtMs: EXPIRES_MS + 1 }, 'processing'],
    ['in time, heard of much later', { receivedAtMs: EXPIRES_MS * 9 }, 'credited'],
    ['not deep enough yet', { settled: false }, 'processing'],
    ['no longer on the chain', { vanished: true, settled: false }, 'vanished'],
  ]
  test.each(times)('%s', (_name, more, state) => {
    expect(statesOf([paid('a', 20_000_000n, more)])).toEqual({ a: state })
  })

  test('what a claim counted stays credited; anything else is too much', () => {
    const received = [paid('a', 20_000_000n, { vanished: true }), paid('b', 20_000_000n)]
    expect(assess(intent, received, ['a'])).toEqual({
      states: new Map([
        ['a', 'credited'],
        ['b', 'multiple'],
      ]),
      claim: null,
    })
  })

  test('late, resolved and vanished money completes nothing', () => {
    const received = [
      paid('late', 19_000_000n, { blockTimeMs: EXPIRES_MS + 1_000 }),
      paid('resolved', 19_000_000n, { resolved: true }),
      paid('vanished', 19_000_000n, { vanished: true }),
      paid('short', 1_000_000n),
    ]
    expect(assess(intent, received, null).claim).toBeNull()
    expect(statesOf(received)).toEqual({ late: 'late', vanished: 'vanished', short: 'underpaid' })
  })
})

describe('whose a payment is', () => {
  const payment = (deltaRaw: bigint, ...legs: [bigint, string[]][]): SeenPayment => ({
    v: 1,
    network: 'localnet',
    signature: 's',
    slot: 1,
    blockTimeMs: 1,
    commitment: 'confirmed',
    settled: true,
    mint: 'm',
    treasury: 't',
    deltaRaw,
    legs: legs.map(([amountRaw, references]) => ({ amountRaw, source: 'x', references })),
  })
  const other: Asked = { ...intent, id: 'int_2', reference: 'ref2' }

  test.each([
    ['its whole change of balance', payment(20n, [20n, ['ref1']]), { intent, attributedRaw: 20n }],
    ['no more than the legs that name it', payment(30n, [10n, ['ref1']], [20n, []]), { intent, attributedRaw: 10n }],
    ['no more than arrived', payment(15n, [20n, ['ref1']]), { intent, attributedRaw: 15n }],
    ['nobody: it names nothing', payment(20n, [20n, ['unknown']]), { intent: null, state: 'unmatched' as const }],
    ['nobody: it came without a transfer', payment(20n), { intent: null, state: 'unmatched' as const }],
    [
      'a person to decide: it names two',
      payment(20n, [20n, ['ref1', 'ref2']]),
      { intent: null, state: 'multiple' as const },
    ],
  ])('%s', (_name, seen, expected) => {
    expect(attribute(seen, [intent, other])).toEqual(expected)
  })
})
