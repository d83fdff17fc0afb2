import { PRICE_DECIMALS } from '../quote.ts'
import type { Reading } from './reading.ts'

/** When a price may be quoted from. Basis points are hundredths of a percent. */
export interface PriceRules {
  /** Sources that must agree at least. */
  quorum: number
  /** Oldest reading that counts. */
  maxAgeMs: number
  /** Widest confidence interval, against the price. */
  maxConfidenceBps: bigint
  /** Least liquidity behind a price, where a source tells it. */
  minLiquidityUsd: bigint
  /** Furthest that two sources may be apart, against the median. */
  maxSpreadBps: bigint
  /** Furthest that the price may be from where it was within `jumpWindowMs`. */
  maxJumpBps: bigint
  jumpWindowMs: number
  /** A token pegged to one dollar: never worth more here, and not accepted once it lost its peg. */
  stable: boolean
}

/** A price seen before, for the jump rule. */
export interface PastPrice {
  priceScaled: bigint
  atMs: number
}

export type Judgement =
  | { status: 'ok'; priceScaled: bigint; sources: Reading[] }
  | { status: 'refused'; reason: string }

const ONE = 10n ** BigInt(PRICE_DECIMALS)
/** Below this a pegged token has lost its peg. */
const DEPEGGED = (ONE * 98n) / 100n
const BPS = 10_000n

/**
 * The median of the sources that may be trusted now, or why there is none. A thin agreement is refused rather than
 * narrowed down: falling back to the one source left is how a manipulated price gets in (research: payments, 5).
 */
export function judge(
  readings: readonly Reading[],
  past: readonly PastPrice[],
  nowMs: number,
  rules: PriceRules,
): Judgement {
  const problems = readings.map(reading => problemOf(reading, nowMs, rules))
  const trusted = readings.filter((_, index) => problems[index] === null)
  if (trusted.length < rules.quorum) {
    const reasons = problems.filter(problem => problem !== null)
    return refused(
      `${trusted.length} of ${rules.quorum} sources can be trusted${reasons.length > 0 ? `: ${reasons.join('; ')}` : ''}`,
    )
  }
  const prices = trusted.map(({ priceScaled }) => priceScaled).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const median = medianOf(prices)
  const spread = (prices.at(-1) ?? 0n) - (prices[0] ?? 0n)
  if (spread * BPS > median * rules.maxSpreadBps) return refused('the sources disagree')
  const jumped = past
    .filter(({ atMs }) => nowMs - atMs <= rules.jumpWindowMs)
    .some(({ priceScaled }) => distance(priceScaled, median) * BPS > priceScaled * rules.maxJumpBps)
  if (jumped) return refused('the price jumped')
  if (!rules.stable) return { status: 'ok', priceScaled: median, sources: trusted }
  if (median < DEPEGGED) return refused('the token has lost its peg')
  return { status: 'ok', priceScaled: median < ONE ? median : ONE, sources: trusted }
}

function problemOf(reading: Reading, nowMs: number, rules: PriceRules): string | null {
  const { source, priceScaled, atMs, confidenceScaled, liquidityUsd } = reading
  if (priceScaled <= 0n) return `${source} has no price`
  if (atMs !== null && nowMs - atMs > rules.maxAgeMs) return `${source} is stale`
  if (confidenceScaled !== null && confidenceScaled * BPS > priceScaled * rules.maxConfidenceBps)
    return `${source} is unsure`
  if (liquidityUsd !== null && liquidityUsd < rules.minLiquidityUsd) return `${source} sees too little liquidity`
  return null
}

/** Of two in the middle, the lower: it asks for more tokens, so a source that errs upwards gains nothing. */
function medianOf(sorted: readonly bigint[]): bigint {
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0n
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a
}

function refused(reason: string): Judgement {
  return { status: 'refused', reason }
}
