/**
 * `unavailable`: nobody answered in time, or the answerer can't work now; what was asked may or may not have happened,
 * so ask again with the same id. `invalid`: the message does not fit the contract. `internal`: the answerer failed.
 */
export type FaultKind = 'unavailable' | 'invalid' | 'internal'

/** A question that got no answer. Refusals are answers; this is what is thrown. */
export class BusFault extends Error {
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'BusFault'
    this.kind = kind
  }
}

/** The header by which an answerer says that it has no answer, and the same as an item of a batched answer. */
export const FAULT_HEADER = 'Tollgate-Fault'
export const faultItem = (kind: FaultKind) => ({ $fault: kind })

export function faultKindOf(value: unknown): FaultKind | null {
  if (typeof value !== 'object' || value === null || !('$fault' in value)) return null
  return faultKindFrom(String(value.$fault))
}

export function faultKindFrom(text: string): FaultKind {
  return text === 'unavailable' || text === 'invalid' ? text : 'internal'
}
