import type { Usage } from './usage.ts'

/** What a model costs, in micro-USD per 1M tokens. Null: no price of its own, so prompt tokens cost `inMicro`. */
export interface Prices {
  readonly inMicro: bigint
  readonly outMicro: bigint
  readonly cachedInMicro: bigint | null
  readonly cacheWriteMicro: bigint | null
}

const PRICED_TOKENS = 1_000_000n

/**
 * The charge in micro-USD, rounded up once (interface.md, Metering rules 3). Cached and cache-writing prompt tokens have
 * prices of their own only where the catalogue lists them; else the formula is the literal one.
 */
export function costMicro(usage: Usage, prices: Prices): bigint {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens } = usage
  const freshTokens = promptTokens - cachedTokens - cacheWriteTokens
  return perMillion(
    BigInt(freshTokens) * prices.inMicro +
      BigInt(cachedTokens) * (prices.cachedInMicro ?? prices.inMicro) +
      BigInt(cacheWriteTokens) * (prices.cacheWriteMicro ?? prices.inMicro) +
      BigInt(completionTokens) * prices.outMicro,
  )
}

/** The dearest that a prompt token can be, whatever the provider's cache does. */
export function dearestInMicro({ inMicro, cachedInMicro, cacheWriteMicro }: Prices): bigint {
  return [cachedInMicro, cacheWriteMicro].reduce<bigint>(
    (most, price) => (price && price > most ? price : most),
    inMicro,
  )
}

/** Tokens × price per 1M tokens → micro-USD, rounded up. */
export function perMillion(tokenMicro: bigint): bigint {
  return (tokenMicro + PRICED_TOKENS - 1n) / PRICED_TOKENS
}

/** The tokens that an amount pays for at this price. The price must not be zero. */
export function tokensFor(amountMicro: bigint, priceMicro: bigint): bigint {
  return (amountMicro * PRICED_TOKENS) / priceMicro
}
