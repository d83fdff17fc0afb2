import { MICRO_PER_USD } from '@tollgate/contracts'
import { writeDecimal } from './decimal.ts'

/** Decimals of a price in code: USD per whole token, as an integer. Fine enough for tokens of a billionth of a cent. */
export const PRICE_DECIMALS = 18
const PRICE_SCALE = 10n ** BigInt(PRICE_DECIMALS)

/** What a token account can hold, and hence what can be asked. */
const TOKEN_RAW_MAX = 2n ** 64n - 1n

export interface Rate {
  /** USD per whole token, `PRICE_DECIMALS` decimals. */
  priceScaled: bigint
  /** Of the mint. */
  decimals: number
}

/** The base units that are worth a USD amount, rounded up; null when no account could hold them. */
export function tokenRawFor(usdMicro: bigint, { priceScaled, decimals }: Rate): bigint | null {
  const numerator = usdMicro * 10n ** BigInt(decimals) * PRICE_SCALE
  const denominator = priceScaled * MICRO_PER_USD
  const tokenRaw = (numerator + denominator - 1n) / denominator
  return tokenRaw <= TOKEN_RAW_MAX ? tokenRaw : null
}

/** What base units are worth in micro-USD, rounded down. */
export function microFor(tokenRaw: bigint, { priceScaled, decimals }: Rate): bigint {
  return (tokenRaw * priceScaled * MICRO_PER_USD) / (10n ** BigInt(decimals) * PRICE_SCALE)
}

export interface PaymentRequest {
  recipient: string
  mint: string
  reference: string
  tokenRaw: bigint
  decimals: number
  label?: string
  message?: string
}

/**
 * The Solana Pay transfer request. The amount is plain decimal in whole tokens, written from the digits; texts are
 * percent-encoded with %20, since wallets that decode a URI component would leave a `+` standing.
 */
export function paymentUrl(request: PaymentRequest): string {
  const { recipient, mint, reference, tokenRaw, decimals, label, message } = request
  const amount = writeDecimal(tokenRaw, decimals)
  const texts = Object.entries({ label, message }).filter(([, text]) => text)
  const extra = texts.map(([name, text]) => `&${name}=${encodeURIComponent(text ?? '')}`).join('')
  return `solana:${recipient}?spl-token=${mint}&amount=${amount}&reference=${reference}${extra}`
}
