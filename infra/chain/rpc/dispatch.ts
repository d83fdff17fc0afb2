import { methods, type Node } from './methods.ts'
import { isOptions, type Params } from './params.ts'
import { RPC_CODES, RpcError } from './rpc-error.ts'

export type Reply = { jsonrpc: '2.0'; id: unknown; result: unknown } | { jsonrpc: '2.0'; id: unknown; error: ErrorBody }

type ErrorBody = { code: number; message: string; data?: unknown }

export type Call = { id: unknown; method: string; params: Params }

/** Answers a parsed body: one call, or a batch of them. Null when there was nothing to answer (notifications). */
export function dispatch(node: Node, body: unknown): Reply | Reply[] | null {
  if (!Array.isArray(body)) return dispatchOne(node, body)
  if (body.length === 0) return failure(null, new RpcError(RPC_CODES.invalidRequest, 'Invalid Request'))
  return body.map(call => dispatchOne(node, call)).filter(reply => reply !== null)
}

function dispatchOne(node: Node, body: unknown): Reply | null {
  const call = readCall(body)
  if (call === null) return failure(null, new RpcError(RPC_CODES.invalidRequest, 'Invalid Request'))
  const reply = answer(call, () => {
    const method = methods.get(call.method)
    if (method === undefined) throw methodNotFound()
    return method(node, call.params)
  })
  return call.id === undefined ? null : reply
}

/** A JSON-RPC call's parts, or null when it is none. An absent id marks a notification. */
export function readCall(body: unknown): Call | null {
  if (!isOptions(body) || typeof body.method !== 'string') return null
  return { id: body.id, method: body.method, params: Array.isArray(body.params) ? body.params : [] }
}

/** Runs a call and wraps what it answers or throws. */
export function answer(call: Call, run: () => unknown): Reply {
  try {
    return { jsonrpc: '2.0', id: call.id ?? null, result: run() }
  } catch (error) {
    return failure(call.id, error)
  }
}

export function methodNotFound(): RpcError {
  return new RpcError(RPC_CODES.methodNotFound, 'Method not found')
}

export function failure(id: unknown, error: unknown): Reply {
  if (!(error instanceof RpcError)) console.error('rpc_fault', error)
  const { code, message, data } =
    error instanceof RpcError ? error : new RpcError(RPC_CODES.internalError, `Internal error: ${String(error)}`)
  return { jsonrpc: '2.0', id: id ?? null, error: { code, message, ...(data !== undefined && { data }) } }
}
