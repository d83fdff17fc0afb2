import { expect, test } from 'bun:test'
import { costMicro, type Prices } from './price.ts'
import { type Usage, usageOf } from './usage.ts'

const prices: Prices = { inMicro: 150_000n, outMicro: 600_000n, cachedInMicro: null, cacheWriteMicro: null }
const usage = (promptTokens: number, completionTokens: number, cachedTokens = 0, cacheWriteTokens = 0): Usage => ({
  promptTokens,
  completionTokens,
  cachedTokens,
  cacheWriteTokens,
})

// usage, prices → micro-USD; the last column by hand
const rows: [Usage, Partial<Prices>, bigint][] = [
  [usage(0, 0), {}, 0n],
  [usage(1, 0), {}, 1n], // 0.15 rounds up
  [usage(0, 1), {}, 1n], // 0.6 rounds up
  [usage(1, 1), {}, 1n], // 0.75 rounds up once, not twice
  [usage(1_000_000, 1_000_000), {}, 750_000n],
  [usage(1_000, 500), {}, 450n], // 150 + 300
  [usage(1_001, 500), {}, 451n],
  [usage(1_000, 0, 1_000), {}, 150n], // no price for cached tokens: the literal formula
  [usage(1_000, 0, 400), { cachedInMicro: 75_000n }, 120n], // 600 × 0.15 + 400 × 0.075
  [usage(1_000, 0, 400, 600), { cachedInMicro: 75_000n, cacheWriteMicro: 187_500n }, 143n], // 30 + 112.5
  [usage(1_000, 0, 1_000), { cachedInMicro: 0n }, 0n],
  [usage(9_007_199_254_740_991, 9_007_199_254_740_991), {}, 6_755_399_441_055_744n], // beyond what a float can hold
]

test('the charge is the formula, rounded up once', () => {
  for (const [used, other, expected] of rows) expect(costMicro(used, { ...prices, ...other })).toBe(expected)
})

test('a report that is no report is null: no prompt is empty, an output may be', () => {
  for (const wrong of [undefined, null, -1, 1.5, '10', Number.NaN, 2 ** 53, {}, []]) {
    expect(usageOf({ prompt: wrong, completion: 3 })).toBeNull()
    expect(usageOf({ prompt: 10, completion: wrong })).toBeNull()
  }
  expect(usageOf({ prompt: 0, completion: 3 })).toBeNull()
  expect(usageOf({ prompt: 10, completion: 0 })).toEqual(usage(10, 0))
})

test('buckets never overlap, whatever the details say', () => {
  expect(usageOf({ prompt: 10, completion: 3, cached: 99 })).toEqual(usage(10, 3, 10))
  expect(usageOf({ prompt: 10, completion: 3, cached: 4, cacheWrite: 99 })).toEqual(usage(10, 3, 4, 6))
  expect(usageOf({ prompt: 10, completion: 3, cached: -4, cacheWrite: 'x' })).toEqual(usage(10, 3))
})
