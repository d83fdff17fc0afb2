import type { PriceSource } from './reading.ts'

/** A fixed price, for development and for tokens whose price the operator sets. */
export function staticSource(priceScaled: bigint): PriceSource {
  return {
    name: 'static',
    read: async (_mint, nowMs) => {
      return { source: 'static', priceScaled, atMs: nowMs, confidenceScaled: null, liquidityUsd: null }
    },
  }
}
