import type { Log } from '@tollgate/service'
import { writeDecimal } from '../decimal.ts'
import { PRICE_DECIMALS } from '../quote.ts'
import type { PriceSource, Reading } from './reading.ts'
import { judge, type PastPrice, type PriceRules } from './rules.ts'

/** A source's part in a price, as it is kept with the quote. */
export interface SourcePrice {
  source: string
  price: string
  atMs: number | null
}

export type Price =
  | { status: 'ok'; priceScaled: bigint; sources: SourcePrice[] }
  | { status: 'refused'; reason: string }

export interface Oracle {
  /** What the token is worth now, or why nobody can say. */
  price(mint: string): Promise<Price>
  /** Looks again at what was last asked for: between two quotes nobody asks, and the jump rule needs to know. */
  refresh(): Promise<void>
}

export interface OracleOptions {
  sources: readonly PriceSource[]
  rules: PriceRules
  /** How long an answer serves: sources count requests. */
  cacheMs: number
  now: () => number
  log: Log
}

/** Asks all sources at once, judges what they say, and remembers it for the jump rule. */
export function createOracle({ sources, rules, cacheMs, now, log }: OracleOptions): Oracle {
  const past: PastPrice[] = []
  let cached: { mint: string; atMs: number; price: Promise<Price> } | null = null

  async function ask(mint: string): Promise<Price> {
    const answers = await Promise.allSettled(sources.map(source => source.read(mint, now())))
    const readings = answers.flatMap(answer => (answer.status === 'fulfilled' ? [answer.value] : []))
    for (const answer of answers)
      if (answer.status === 'rejected') log.warn({ err: answer.reason }, 'a price source failed')
    remember(readings)
    const judgement = judge(readings, past, now(), rules)
    if (judgement.status === 'refused') log.warn({ reason: judgement.reason }, 'no price can be quoted')
    return judgement.status === 'ok'
      ? { status: 'ok', priceScaled: judgement.priceScaled, sources: judgement.sources.map(kept) }
      : judgement
  }

  /** Every price is remembered, refused ones too: a real move is accepted once the window has passed over it. */
  function remember(readings: readonly Reading[]): void {
    const atMs = now()
    while (past[0] && atMs - past[0].atMs > rules.jumpWindowMs) past.shift()
    past.push(...readings.map(({ priceScaled }) => ({ priceScaled, atMs })))
  }

  function price(mint: string): Promise<Price> {
    const atMs = now()
    if (!cached || cached.mint !== mint || atMs - cached.atMs > cacheMs) cached = { mint, atMs, price: ask(mint) }
    return cached.price
  }

  return {
    price,
    async refresh() {
      if (cached) await price(cached.mint)
    },
  }
}

function kept({ source, priceScaled, atMs }: Reading): SourcePrice {
  return { source, price: writeDecimal(priceScaled, PRICE_DECIMALS), atMs }
}
