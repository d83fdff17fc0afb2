export type UiTokenAmount = { uiAmount: number; decimals: number; amount: string; uiAmountString: string }

/** Base units in the four forms of the RPC; only `amount` is exact and unscaled. */
export function uiTokenAmount(amountRaw: bigint, decimals: number): UiTokenAmount {
  return {
    uiAmount: Number(amountRaw) / 10 ** decimals,
    decimals,
    amount: amountRaw.toString(),
    uiAmountString: decimalString(amountRaw, decimals),
  }
}

/** Puts the point into the digits and drops trailing zeros: no float is involved. */
function decimalString(amountRaw: bigint, decimals: number): string {
  if (decimals === 0) return amountRaw.toString()
  const digits = amountRaw.toString().padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  const whole = digits.slice(0, -decimals)
  return fraction === '' ? whole : `${whole}.${fraction}`
}
