import { newId, PublicError, REQUEST_ID_HEADER } from '@tollgate/contracts'
import { type Log, type Metrics, publicErrorOf } from '@tollgate/service'
import type { Server } from 'bun'
import { addCorsHeaders } from './cors.ts'
import type { Call, HandleParts } from './handle.ts'
import { isAcceptableHost, pathStartOf } from './host.ts'
import { routerHttp } from './http.ts'

export interface EdgeOptions extends Omit<HandleParts, 'times'> {
  log: Log
  metrics: Metrics
  allowedHosts: ReadonlySet<string>
}

/** Between requests and while a body arrives; the same as the listener's own. */
const IDLE_TIMEOUT_S = 30

export interface Edge {
  fetch(request: Request, server: Server<undefined>): Promise<Response>
  /** What every answer of the public port carries, also those of health checks. */
  finish(request: Request, answer: Response): Response
}

/**
 * The public door. What Elysia would get wrong is refused before it; what every answer carries (request id, CORS, no sniffing,
 * no caching) is added after it, to errors and preflights too.
 */
export function createEdge(options: EdgeOptions): Edge {
  const { log, metrics, origins } = options
  const calls = new WeakMap<Request, Call>()
  const limited = metrics.seconds('limit_seconds', 'wait for a place in a rate limit')
  const forwarded = metrics.seconds('forward_seconds', "time until a service's answer begins")
  const times = { limited: (s: number) => limited.observe(s), forwarded: (s: number) => forwarded.observe(s) }
  const http = routerHttp({ ...options, times, callOf: request => calls.get(request) ?? unknownCall() })
  const answers = metrics.counter('http_answers_total', 'answers to callers', ['method', 'status'])
  const seconds = metrics.seconds('http_answer_seconds', 'time until an answer begins')

  function finish(request: Request, answer: Response): Response {
    const { headers } = answer
    headers.set(REQUEST_ID_HEADER, calls.get(request)?.id ?? newId('request'))
    headers.set('x-content-type-options', 'nosniff')
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
    addCorsHeaders(headers, request.headers.get('origin'), origins)
    return answer
  }

  async function answer(request: Request, server: Server<undefined>): Promise<Response> {
    const pathStart = pathStartOf(request.url)
    if (pathStart === null || !isAcceptableHost(request.headers.get('host'), options.allowedHosts)) {
      return new PublicError('bad_request', 'the Host header is missing or is not a host of ours').toResponse()
    }
    const call: Call = {
      id: newId('request'),
      request,
      target: request.url.slice(pathStart),
      address: () => server.requestIP(request)?.address ?? '',
      lift: () => server.timeout(request, 0),
      lower: () => server.timeout(request, IDLE_TIMEOUT_S),
    }
    calls.set(request, call)
    try {
      return await http.fetch(request)
    } catch (error) {
      return publicErrorOf(error, log, call.id).toResponse()
    }
  }

  return {
    async fetch(request, server) {
      const startedAt = performance.now()
      const answered = finish(request, await answer(request, server))
      answers.inc({ method: request.method, status: answered.status })
      seconds.observe((performance.now() - startedAt) / 1_000)
      return answered
    },
    finish,
  }
}

function unknownCall(): never {
  throw new Error('a request that the edge did not open')
}
