import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { isPassing, RpcFault, RpcRefusal } from './faults.ts'

const Answer = Type.Union([
  Type.Object({ result: Type.Unknown(), error: Type.Optional(Type.Null()) }),
  Type.Object({ error: Type.Object({ code: Type.Integer(), message: Type.String() }) }),
])

const TOO_MANY_REQUESTS = 429
const RETRY_AFTER_MAX_S = 60

let nextId = 1

/**
 * Asks one endpoint one question. Throws `RpcRefusal` when the node refuses the question itself, `RpcFault` for
 * everything that is the endpoint's trouble: a limit, a proxy's web page, a node that is behind, silence.
 */
export async function askEndpoint(
  url: string,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const text = await post(url, JSON.stringify({ jsonrpc: '2.0', id: nextId++, method, params }), signal)
  const answer = parse(text, method)
  if (!('error' in answer) || !answer.error) return 'result' in answer ? answer.result : undefined
  const { code, message } = answer.error
  if (isPassing(code)) throw new RpcFault(`${method}: ${message} (${code})`)
  throw new RpcRefusal(code, `${method}: ${message} (${code})`)
}

async function post(url: string, body: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal,
    })
    const text = await response.text()
    if (response.status === TOO_MANY_REQUESTS) throw tooMany(response)
    // Some nodes send JSON-RPC errors with an HTTP error status; a proxy's own page is not JSON.
    if (!response.ok && !isJson(text)) throw new RpcFault(`HTTP ${response.status}`)
    return text
  } catch (cause) {
    if (cause instanceof RpcFault) throw cause
    throw new RpcFault('the endpoint did not answer', { cause })
  }
}

function tooMany(response: Response): RpcFault {
  const seconds = Number(response.headers.get('retry-after'))
  const known = Number.isFinite(seconds) && seconds > 0
  return new RpcFault('HTTP 429', known ? { retryAfterMs: Math.min(seconds, RETRY_AFTER_MAX_S) * 1_000 } : {})
}

function isJson(text: string): boolean {
  return text.trimStart().startsWith('{')
}

function parse(text: string, method: string): Static<typeof Answer> {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch (cause) {
    throw new RpcFault(`${method}: the answer is not JSON`, { cause })
  }
  if (!Value.Check(Answer, answer)) throw new RpcFault(`${method}: the answer is not JSON-RPC`)
  return answer
}
