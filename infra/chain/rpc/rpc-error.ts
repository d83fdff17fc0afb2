/** An error that the caller sees: JSON-RPC's own codes, and those that Solana's nodes add from -32001 on. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  preflightFailure: -32002,
  signatureVerification: -32003,
  blockNotAvailable: -32004,
  nodeUnhealthy: -32005,
  unsupportedVersion: -32015,
  minContextSlot: -32016,
} as const

export function invalidParams(reason: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, `Invalid params: ${reason}`)
}
