import { PublicError, type Route } from '@tollgate/contracts'
import type { Log } from '@tollgate/service'
import type { Body } from './body.ts'
import { headersForCaller } from './headers.ts'
import { relay } from './relay.ts'
import type { Replica, Replicas } from './replicas.ts'

/** A request on its way to a service. */
export interface Onward {
  readonly request: Request
  readonly route: Route
  /** Path and query, as they came. */
  readonly target: string
  readonly headers: Headers
  readonly body: Body
  /** Lets the connection be quiet for as long as this request takes, and ends that. */
  lift(): void
  lower(): void
}

export interface ForwardOptions {
  services: Readonly<Record<Route['service'], Replicas>>
  /** Requests that one service may owe us answers to, over all its replicas. */
  outstandingMax: number
  /** The same over all services: what `fetch` sends at once. Beyond it, it would queue without a word. */
  fetchesMax: number
  log: Log
}

/** Until a service's answer begins. A completion without streaming takes as long as the model does. */
const ANSWER_WITHIN_MS: Readonly<Record<Route['service'], number>> = {
  auth: 15_000,
  keys: 15_000,
  billing: 30_000,
  'metering-proxy': 600_000,
}
/** An answer up to here is read whole, so that one that breaks off becomes a listed error. */
const WHOLE_ANSWER_MAX_BYTES = 64 * 1024
const RETRY_AFTER_S = 1

/**
 * Sends a request to a replica of its service and relays the answer as it comes. Another replica is asked only when the
 * connection was refused, since nothing was executed then. Throws a listed 503 when nobody answers.
 */
export async function forward(onward: Onward, options: ForwardOptions): Promise<Response> {
  const { route } = onward
  const { log } = options
  const replicas = options.services[route.service]
  if (isFull(replicas, options)) throw unavailable(route)
  for (const replica of replicas.inOrder()) {
    const answer = await attempt(onward, replica, log)
    if (answer !== 'refused') return answer
    log.warn({ service: route.service, replica: replica.url }, 'a replica refused the connection')
    replicas.putAside(replica)
  }
  throw unavailable(route)
}

/** Whether one request more would wait in a queue: it is told to come back instead. */
function isFull(replicas: Replicas, { services, outstandingMax, fetchesMax }: ForwardOptions): boolean {
  if (replicas.outstanding >= outstandingMax) return true
  return Object.values(services).reduce((sum, each) => sum + each.outstanding, 0) >= fetchesMax
}

async function attempt(onward: Onward, replica: Replica, log: Log): Promise<Response | 'refused'> {
  const { request, route } = onward
  const aborting = new AbortController()
  const leave = () => aborting.abort()
  request.signal.addEventListener('abort', leave, { once: true })
  const late = setTimeout(leave, ANSWER_WITHIN_MS[route.service])
  replica.outstanding++
  // While a body flows, the connection's own timer watches over it.
  if (onward.body.kind !== 'stream') onward.lift()
  const finish = once(() => {
    replica.outstanding--
    request.signal.removeEventListener('abort', leave)
    onward.lower()
  })
  try {
    const upstream = await send(onward, replica, aborting.signal)
    clearTimeout(late)
    return await answerOf(upstream, { request, aborting, finish })
  } catch (cause) {
    clearTimeout(late)
    finish()
    aborting.abort()
    if (isRefused(cause)) return 'refused'
    const broken = onward.body.kind === 'stream' ? onward.body.broken() : null
    if (broken) throw broken
    if (!request.signal.aborted) log.warn({ err: cause, service: route.service, replica: replica.url }, 'no answer')
    throw unavailable(route, cause)
  }
}

function send(
  { request, target, headers, body, lift }: Onward,
  replica: Replica,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(`${replica.url}${target}`, {
    // Bun drops the body of an answer to HEAD; services answer GET.
    method: request.method === 'HEAD' ? 'GET' : request.method,
    headers,
    signal,
    redirect: 'manual',
    decompress: false,
    // Our own timers count; Bun's would cut a quiet stream after five minutes.
    timeout: false,
    ...(body.kind === 'whole' && { body: body.bytes }),
    ...(body.kind === 'stream' && { body: body.open(lift) }),
  } as RequestInit) // `decompress` and `timeout` are Bun's.
}

interface AnswerOptions {
  request: Request
  aborting: AbortController
  finish(): void
}

async function answerOf(upstream: Response, { request, aborting, finish }: AnswerOptions): Promise<Response> {
  const headers = headersForCaller(upstream.headers)
  const { status } = upstream
  const length = headers.get('content-length')
  if (status >= 400 && !headers.get('content-type')?.includes('json'))
    throw new Error(`an answer ${status} without JSON`)
  if (request.method === 'HEAD') {
    aborting.abort()
    finish()
    return new Response(null, { status, headers })
  }
  headers.delete('content-length')
  if (upstream.body === null) {
    finish()
    return new Response(null, { status, headers })
  }
  if (length !== null && Number(length) <= WHOLE_ANSWER_MAX_BYTES) {
    const bytes = await upstream.arrayBuffer()
    finish()
    return new Response(bytes, { status, headers })
  }
  return new Response(relay(upstream.body, { aborting, finish }), { status, headers })
}

function isRefused(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
}

function unavailable({ service }: Route, cause?: unknown): PublicError {
  const what = service === 'metering-proxy' ? 'the model service' : `the ${service} service`
  return new PublicError('service_unavailable', `${what} can’t answer right now; try again`, {
    retryAfterSeconds: RETRY_AFTER_S,
    cause,
  })
}

function once(run: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
  }
}
