/** What one source says of a token's price, in USD per whole token with `PRICE_DECIMALS` decimals. */
export interface Reading {
  source: string
  priceScaled: bigint
  /** When the price was made, ms epoch; null where the source does not say. */
  atMs: number | null
  /** Half the width of the source's own confidence interval; null where it gives none. */
  confidenceScaled: bigint | null
  /** USD that can be traded near the price; null where the source does not say. */
  liquidityUsd: bigint | null
}

/** A place that knows prices. Throws, with a reason for the log, when it has none. */
export interface PriceSource {
  readonly name: string
  read(mint: string, nowMs: number): Promise<Reading>
}
