/** Exact decimal numbers as text and as integers of a fixed scale. No float ever stands between the two. */

const decimalText = /^([0-9]{1,30})(?:\.([0-9]{1,60}))?(?:[eE]([+-]?[0-9]{1,3}))?$/

/**
 * Reads non-negative decimal text (as JSON writes numbers, exponents too) as an integer of `scale` decimals, rounded
 * down: "0.25" at scale 6 is 250000n. Null when it is no such text.
 */
export function parseDecimal(text: string, scale: number): bigint | null {
  const match = decimalText.exec(text)
  if (!match) return null
  const [, whole = '', fraction = '', exponent = '0'] = match
  const digits = BigInt(whole + fraction)
  const shift = scale - fraction.length + Number(exponent)
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift)
}

/** Writes an integer of `scale` decimals as plain decimal text without needless zeros: 10500000n at scale 6 is "10.5". */
export function writeDecimal(value: bigint, scale: number): string {
  const digits = value.toString().padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}
