import { Type } from '@sinclair/typebox'

/** Micro-USD in one US dollar: the balance unit of interface.md ("Credit rules"). */
export const MICRO_PER_USD = 1_000_000n

const maxSafe = Number.MAX_SAFE_INTEGER

/** An amount in micro-USD, never negative: a `bigint` in code, a JSON integer that any client can hold exactly on the wire. */
export const Micro = Type.Transform(Type.Integer({ minimum: 0, maximum: maxSafe }))
  .Decode(value => BigInt(value))
  .Encode(value => Number(value))

/** A signed amount in micro-USD: adjustments and postings go both ways. */
export const SignedMicro = Type.Transform(Type.Integer({ minimum: -maxSafe, maximum: maxSafe }))
  .Decode(value => BigInt(value))
  .Encode(value => Number(value))

/** Token base units: a `bigint` in code, a decimal string on the wire, because mints go up to 2^64. */
export const TokenRaw = Type.Transform(Type.String({ pattern: '^(0|[1-9][0-9]{0,19})$' }))
  .Decode(value => BigInt(value))
  .Encode(value => value.toString())

/** US dollars for display only (`creditsUsd`); decisions use micro-USD. */
export function usdFromMicro(amountMicro: bigint): number {
  return Number(amountMicro) / Number(MICRO_PER_USD)
}

const usdText = /^(0|[1-9][0-9]{0,8})(?:\.([0-9]{1,6}))?$/

/**
 * Reads a decimal USD text exactly. Null when it is not plain decimal digits with at most six decimals
 * (micro-USD is the smallest unit, and an amount that it can't express is refused, never rounded).
 */
export function microFromUsdText(text: string): bigint | null {
  const match = usdText.exec(text)
  if (!match) return null
  const [, whole = '0', fraction = ''] = match
  return BigInt(whole) * MICRO_PER_USD + BigInt(fraction.padEnd(6, '0'))
}

/** Writes micro-USD as plain decimal USD, two decimals at least: 1500000n → "1.50". */
export function usdTextFromMicro(amountMicro: bigint): string {
  const sign = amountMicro < 0n ? '-' : ''
  const digits = (amountMicro < 0n ? -amountMicro : amountMicro).toString().padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0{1,4}$/, '')
  return `${sign}${digits.slice(0, -6)}.${fraction}`
}
