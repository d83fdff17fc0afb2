import { expect, test } from 'bun:test'
import { median, medianPercentiles, percentilesOf, slope } from './figures.ts'

test('a median is the middle value, or the mean of the middle two', () => {
  expect(median([9, 1, 5])).toBe(5)
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(median([])).toBeNaN()
})

test('a percentile is a value that was measured, by the nearest rank', () => {
  const upTo100 = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect(percentilesOf(upTo100)).toEqual({ p50: 50, p90: 90, p99: 99 })
  expect(percentilesOf([7])).toEqual({ p50: 7, p90: 7, p99: 7 })
  expect(percentilesOf([10, 9])).toEqual({ p50: 9, p90: 10, p99: 10 })
})

test('one disturbed round does not speak for all', () => {
  const rounds = [1, 1.2, 50].map(p50 => ({ p50, p90: 2 * p50, p99: 3 * p50 }))
  const { p50, p90, p99 } = medianPercentiles(rounds)
  expect([p50, p90, p99]).toEqual([1.2, 2.4, expect.closeTo(3.6)])
})

test('a slope is the change from one value to the next', () => {
  expect(slope([10, 12, 14, 16])).toBeCloseTo(2)
  expect(slope([5, 5, 5])).toBe(0)
  expect(slope([5])).toBe(0)
})
