import { parseDecimal } from '../decimal.ts'
import { PRICE_DECIMALS } from '../quote.ts'
import { fetchExact } from './fetch-json.ts'
import { at, numberText } from './json.ts'
import type { PriceSource } from './reading.ts'

export interface PythOptions {
  baseUrl: string
  /** Required by the hosted service since August 2026. */
  apiKey: string
  /** Feed of the token in USD, hex. Feeds are per pair: the mint does not name one. */
  feedId: string
}

/** Pyth's Hermes: an integer price and confidence with a common exponent, and when it was published. */
export function pythSource({ baseUrl, apiKey, feedId }: PythOptions): PriceSource {
  return {
    name: 'pyth',
    async read() {
      const url = `${baseUrl}/v2/updates/price/latest?ids[]=${feedId}&parsed=true&encoding=hex`
      const answer = await fetchExact(url, apiKey ? { authorization: `Bearer ${apiKey}` } : {})
      const price = at(answer, 'parsed', 0, 'price')
      const exponent = numberText(at(price, 'expo')) ?? ''
      const scaled = (field: string) =>
        parseDecimal(`${numberText(at(price, field)) ?? ''}e${exponent}`, PRICE_DECIMALS)
      const priceScaled = scaled('price')
      const confidenceScaled = scaled('conf')
      const publishedS = Number(numberText(at(price, 'publish_time')))
      if (priceScaled === null || confidenceScaled === null || !Number.isSafeInteger(publishedS) || publishedS <= 0) {
        throw new Error('pyth has no price for the feed')
      }
      return { source: 'pyth', priceScaled, atMs: publishedS * 1_000, confidenceScaled, liquidityUsd: null }
    },
  }
}
