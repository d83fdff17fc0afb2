/** The endpoint can't answer now: busy, behind, broken or gone. Another one might, or the same one later. */
export class RpcFault extends Error {
  readonly retryAfterMs: number | null

  constructor(message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'RpcFault'
    this.retryAfterMs = options.retryAfterMs ?? null
  }
}

/** The endpoint answered with an error that asking again would only repeat. */
export class RpcRefusal extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'RpcRefusal'
    this.code = code
  }
}

/** No endpoint answered before the deadline. */
export class RpcUnavailable extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'RpcUnavailable'
  }
}

/** Errors that tell of the node's state and not of the question, by their JSON-RPC code. */
const PASSING_CODES = new Set([
  429, // "too many requests" inside a 200, as some providers say it
  -32429,
  -32603, // internal error
  -32004, // block not available
  -32005, // behind the cluster
  -32007, // slot skipped, or missing in the snapshot
  -32009, // slot missing in long-term storage
  -32014, // block status not yet available
  -32016, // behind `minContextSlot`
])

export function isPassing(code: number): boolean {
  return PASSING_CODES.has(code)
}
