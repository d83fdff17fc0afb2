import { parseDecimal } from '../decimal.ts'
import { PRICE_DECIMALS } from '../quote.ts'
import { fetchExact } from './fetch-json.ts'
import { at, numberText } from './json.ts'
import type { PriceSource } from './reading.ts'

export interface JupiterOptions {
  baseUrl: string
  /** Empty for the keyless tier: one request in two seconds. */
  apiKey: string
}

/**
 * Jupiter's price API v3: the last swapped price over all pools. It gives no time, only the block of the price; the
 * price counts as made when we first saw that block. A token without a reliable price is left out of the answer.
 */
export function jupiterSource({ baseUrl, apiKey }: JupiterOptions): PriceSource {
  let seen: { block: string; atMs: number } | null = null
  return {
    name: 'jupiter',
    async read(mint, nowMs) {
      const answer = await fetchExact(`${baseUrl}/price/v3?ids=${mint}`, apiKey ? { 'x-api-key': apiKey } : {})
      const priceScaled = parseDecimal(numberText(at(answer, mint, 'usdPrice')) ?? '', PRICE_DECIMALS)
      const block = numberText(at(answer, mint, 'blockId'))
      if (priceScaled === null || block === null) throw new Error('jupiter has no reliable price for the mint')
      if (seen?.block !== block) seen = { block, atMs: nowMs }
      const liquidityUsd = parseDecimal(numberText(at(answer, mint, 'liquidity')) ?? '', 0)
      return { source: 'jupiter', priceScaled, atMs: seen.atMs, confidenceScaled: null, liquidityUsd }
    },
  }
}
