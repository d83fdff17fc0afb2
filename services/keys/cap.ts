import { type ledger, microFromUsdText, PublicError, type ReplyOf } from '@tollgate/contracts'

type Spend = ReplyOf<typeof ledger.keySpend>['keys'][number]
export type CapWindow = Spend['window']

/** What a key may spend in each window; null without a bound. */
export interface Cap {
  capMicro: bigint | null
  window: CapWindow
}

/** What a request says of a cap. `undefined`: it says nothing of that part. */
export interface CapChange {
  capMicro: bigint | null | undefined
  window: CapWindow | undefined
}

export interface CapFields {
  spendCapUsd?: number | null
  spendCapMicro?: number | null
  spendWindow?: CapWindow
}

/** A million USD. A larger cap is a slip of units, and its sums stay far below what a JSON integer can hold. */
export const MAX_CAP_MICRO = 1_000_000_000_000n

export const noCap: Cap = { capMicro: null, window: 'none' }

/** Reads the cap's fields. Throws `bad_request` for what is negative, finer than a micro-USD, too large, or said twice. */
export function capChangeOf({ spendCapUsd, spendCapMicro, spendWindow }: CapFields): CapChange {
  if (spendCapUsd != null && spendCapMicro != null) {
    throw new PublicError('bad_request', 'give spendCapUsd or spendCapMicro, not both')
  }
  const window = spendWindow
  if (spendCapUsd != null) return { capMicro: bounded(microFromUsd(spendCapUsd), 'spendCapUsd'), window }
  if (spendCapMicro != null) return { capMicro: bounded(wholeMicro(spendCapMicro), 'spendCapMicro'), window }
  return { capMicro: spendCapUsd === null || spendCapMicro === null ? null : undefined, window }
}

/** The cap that a change makes of the present one. Throws `bad_request` for a window without a cap. */
export function changedCap(change: CapChange, present: Cap): Cap {
  const capMicro = change.capMicro === undefined ? present.capMicro : change.capMicro
  if (capMicro === null && change.window !== undefined && change.window !== 'none') {
    throw new PublicError('bad_request', 'spendWindow needs a cap: give spendCapUsd or spendCapMicro')
  }
  return capMicro === null ? noCap : { capMicro, window: change.window ?? present.window }
}

/**
 * Exactly the decimal that the caller wrote: a number below 10^9 with at most six decimals has 15 digits at most, so that a
 * double holds it and prints it again. 0.1 + 0.2 prints 17 digits and is refused, not rounded.
 */
function microFromUsd(spendCapUsd: number): bigint {
  const capMicro = microFromUsdText(String(spendCapUsd))
  if (capMicro === null) {
    throw new PublicError('bad_request', 'spendCapUsd must be 0 or more, with at most six decimals')
  }
  return capMicro
}

function wholeMicro(spendCapMicro: number): bigint {
  if (!Number.isSafeInteger(spendCapMicro) || spendCapMicro < 0) {
    throw new PublicError('bad_request', 'spendCapMicro must be a whole number of micro-USD, 0 or more')
  }
  return BigInt(spendCapMicro)
}

function bounded(capMicro: bigint, field: string): bigint {
  if (capMicro > MAX_CAP_MICRO) throw new PublicError('bad_request', `${field} must be at most 1,000,000 USD`)
  return capMicro
}
