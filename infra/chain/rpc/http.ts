import { dispatch, failure } from './dispatch.ts'
import { toJson } from './json.ts'
import type { Node } from './methods.ts'
import { RPC_CODES, RpcError } from './rpc-error.ts'

/** Browsers may call a public RPC from any page; there are no credentials to protect. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
}

/** Agave's default for a request body. */
const MAX_BODY_BYTES = 50 * 1024

export type Handler = (request: Request) => Promise<Response>

/** Answers JSON-RPC by POST, and GET /health. */
export function httpHandler(node: Node): Handler {
  return async request => {
    const { delayMs } = node.faults.settings
    if (delayMs > 0) await Bun.sleep(delayMs)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: CORS })
    if (request.method === 'GET' && new URL(request.url).pathname === '/health') return text('ok', 200)
    if (request.method !== 'POST') return text('Used HTTP Method is not allowed. POST or OPTIONS is required', 405)
    return node.faults.spoil() ?? rpc(node, await request.text())
  }
}

function rpc(node: Node, body: string): Response {
  if (body.length > MAX_BODY_BYTES) return text('Payload too large', 413)
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return json(failure(null, new RpcError(RPC_CODES.parseError, 'Parse error')))
  }
  return json(dispatch(node, parsed))
}

function json(reply: unknown): Response {
  const body = reply === null ? '' : toJson(reply)
  return new Response(body, { headers: { ...CORS, 'content-type': 'application/json' } })
}

function text(body: string, status: number): Response {
  return new Response(body, { status, headers: { ...CORS, 'content-type': 'text/plain' } })
}
