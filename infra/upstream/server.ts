import { type Asked, type Pace, readAsked } from './asked.ts'
import { completionBody, completionEvents, stamped } from './completion.ts'
import { embeddingsBody } from './embeddings.ts'

export interface UpstreamOptions extends Partial<Pace> {
  port?: number
  /** Hears every request to `/v1`. */
  observe?(seen: { path: string; headers: Headers; body: unknown }): void
}

export interface Upstream {
  /** The base URL for a provider: ends in `/v1`. */
  url: string
  port: number
  stop(): Promise<void>
}

const DEFAULT_PACE: Pace = { firstMs: 0, intervalMs: 0, tokens: 64, stamp: 0 }
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
const encoder = new TextEncoder()

/** A simulated OpenAI-compatible provider on 127.0.0.1. */
export function startUpstream(options: UpstreamOptions = {}): Upstream {
  const pace = { ...DEFAULT_PACE, ...options }
  const server = Bun.serve({
    port: options.port ?? 0,
    hostname: '127.0.0.1',
    reusePort: false,
    // Slow streams are what it is for.
    idleTimeout: 0,
    fetch: request => answer(request, pace, options.observe),
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    port: server.port ?? 0,
    stop: () => server.stop(true),
  }
}

async function answer(request: Request, pace: Pace, observe: UpstreamOptions['observe']): Promise<Response> {
  const path = new URL(request.url).pathname
  if (path === '/health') return Response.json({ ok: true })
  if (path === '/v1/models') {
    return Response.json({
      object: 'list',
      data: [{ id: 'simulated', object: 'model', created: 0, owned_by: 'upstream' }],
    })
  }
  if (request.method !== 'POST') return failure(404, 'not_found', `nothing at ${path}`)
  const body: unknown = await request.json().catch(() => null)
  observe?.({ path, headers: request.headers, body })
  if (path === '/v1/chat/completions') {
    const asked = readAsked(body, request.headers, pace)
    return asked ? complete(asked) : failure(400, 'invalid_request_error', 'model and messages are required')
  }
  if (path === '/v1/embeddings') {
    const vectors = embeddingsBody(body)
    return vectors ? Response.json(vectors) : failure(400, 'invalid_request_error', 'model and input are required')
  }
  return failure(404, 'not_found', `nothing at ${path}`)
}

async function complete(asked: Asked): Promise<Response> {
  if (asked.firstMs > 0) await Bun.sleep(asked.firstMs)
  if (!asked.stream) return Response.json(completionBody(asked))
  const events = completionEvents(asked)
  const body = asked.intervalMs > 0 ? paced(events, asked) : events.join('')
  return new Response(body, { headers: STREAM_HEADERS })
}

/** One event an interval, by the clock and not by the sum of sleeps; ends when the reader leaves. */
function paced(events: string[], { intervalMs, stamp }: Pace): ReadableStream<Uint8Array> {
  const start = performance.now()
  let sent = 0
  return new ReadableStream(
    {
      async pull(controller) {
        const waitMs = start + sent * intervalMs - performance.now()
        if (waitMs > 0) await Bun.sleep(waitMs)
        const event = events[sent++]
        if (event === undefined) controller.close()
        else controller.enqueue(encoder.encode(stamp ? stamped(event) : event))
      },
    },
    { highWaterMark: 0 },
  )
}

function failure(status: number, type: string, message: string): Response {
  return Response.json({ error: { message, type, param: null, code: null } }, { status })
}
