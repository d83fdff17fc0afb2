import { IDENTITY_HEADER } from '@tollgate/contracts'

/** A request as a service behind the router saw it. */
interface Seen {
  method: string
  path: string
  headers: Headers
  body: Uint8Array
}

/** Stands in for every service behind a router: it is asked, remembers, and answers what the test says. */
export interface Backend {
  url: string
  seen: Seen[]
  /** What it answers from now on; by default its identity header and body as JSON. */
  answer(handler: Handler): void
  reset(): void
  stop(): Promise<void>
}

type Handler = (request: Request, seen: Seen) => Response | Promise<Response>

const echo: Handler = (_request, { method, path, headers }) =>
  Response.json({ method, path, identity: headers.get(IDENTITY_HEADER) })

export function startBackend(): Backend {
  const seen: Seen[] = []
  let handler = echo
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    development: false,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname === '/healthz') return Response.json({ ok: true })
      const one: Seen = {
        method: request.method,
        path: pathname + search,
        headers: request.headers,
        body: new Uint8Array(),
      }
      seen.push(one)
      if (handler === echo) one.body = await request.bytes()
      return handler(request, one)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    answer(next) {
      handler = next
    },
    reset() {
      handler = echo
      seen.length = 0
    },
    stop: () => server.stop(true),
  }
}
