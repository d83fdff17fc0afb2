import { parseDecimal } from '../decimal.ts'
import { PRICE_DECIMALS } from '../quote.ts'
import { fetchExact } from './fetch-json.ts'
import { at, numberText } from './json.ts'
import type { PriceSource } from './reading.ts'

export interface CoingeckoOptions {
  baseUrl: string
  apiKey: string
}

/** CoinGecko's simple token price: an average over exchanges, about a minute old. The address is echoed in its own case or in lower case. */
export function coingeckoSource({ baseUrl, apiKey }: CoingeckoOptions): PriceSource {
  return {
    name: 'coingecko',
    async read(mint) {
      const query = `contract_addresses=${mint}&vs_currencies=usd&include_last_updated_at=true&precision=full`
      const answer = await fetchExact(
        `${baseUrl}/api/v3/simple/token_price/solana?${query}`,
        apiKey ? { 'x-cg-demo-api-key': apiKey } : {},
      )
      const entry = at(answer, mint) ?? at(answer, mint.toLowerCase())
      const priceScaled = parseDecimal(numberText(at(entry, 'usd')) ?? '', PRICE_DECIMALS)
      const updatedS = Number(numberText(at(entry, 'last_updated_at')))
      if (priceScaled === null || !Number.isSafeInteger(updatedS) || updatedS <= 0) {
        throw new Error('coingecko has no price for the mint')
      }
      return { source: 'coingecko', priceScaled, atMs: updatedS * 1_000, confidenceScaled: null, liquidityUsd: null }
    },
  }
}
