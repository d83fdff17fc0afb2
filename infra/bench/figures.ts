/** Percentiles of one measurement, in milliseconds. */
export interface Percentiles {
  p50: number
  p90: number
  p99: number
}

/** The middle value; the mean of the two middle ones where there is no single one. NaN where there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)] ?? Number.NaN
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/** The smallest value that at least `share` (0 to 1) of all values don't exceed: the nearest rank. NaN where there are none. */
function percentile(sorted: ArrayLike<number>, share: number): number {
  const rank = Math.max(1, Math.ceil(share * sorted.length))
  return sorted[rank - 1] ?? Number.NaN
}

export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).sort()
  return { p50: percentile(sorted, 0.5), p90: percentile(sorted, 0.9), p99: percentile(sorted, 0.99) }
}

/** Of several rounds: each percentile's median, so that one disturbed round does not speak for all. */
export function medianPercentiles(rounds: readonly Percentiles[]): Percentiles {
  const of = (pick: (round: Percentiles) => number) => median(rounds.map(pick))
  return { p50: of(round => round.p50), p90: of(round => round.p90), p99: of(round => round.p99) }
}

/** The slope of a straight line through the points (least squares), per step from one value to the next. */
export function slope(values: readonly number[]): number {
  const meanX = (values.length - 1) / 2
  const meanY = values.reduce((sum, value) => sum + value, 0) / values.length
  let covariance = 0
  let variance = 0
  for (const [x, y] of values.entries()) {
    covariance += (x - meanX) * (y - meanY)
    variance += (x - meanX) ** 2
  }
  return variance === 0 ? 0 : covariance / variance
}
