import { PublicError } from '@tollgate/contracts'

/** What browsers may send: the official SDKs' headers and our own. `*` would not cover Authorization. */
const allowedHeaders = [
  'authorization',
  'content-type',
  'accept',
  'idempotency-key',
  'openai-organization',
  'openai-project',
  'traceparent',
  'tracestate',
  'x-request-id',
  'x-stainless-retry-count',
  'x-stainless-timeout',
  'x-stainless-lang',
  'x-stainless-package-version',
  'x-stainless-os',
  'x-stainless-arch',
  'x-stainless-runtime',
  'x-stainless-runtime-version',
  'x-stainless-helper-method',
  'x-stainless-poll-helper',
  'x-stainless-custom-poll-interval',
].join(', ')

/** What scripts may read of an answer. */
const exposedHeaders = [
  'x-request-id',
  'retry-after',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
].join(', ')

/** Chromium keeps a preflight for two hours at most. */
const PREFLIGHT_MAX_AGE_S = '7200'

/** The exact origins that browsers may call from. A Set, so that no name of an object's prototype is one of them. */
export type Origins = ReadonlySet<string>

/**
 * Refuses what a page of another origin could make a browser send (interface.md, "CORS and CSRF"): an unsafe request that
 * carries an Origin must carry a listed one, whatever its credential; one that the session cookie authenticates must carry one.
 */
export function checkOrigin(origin: string | null, byCookie: boolean, origins: Origins): void {
  if (origin === null && !byCookie) return
  if (origin !== null && origins.has(origin)) return
  throw new PublicError('forbidden', 'this origin may not change anything here')
}

/** Lets pages of a listed origin read the answer, errors included. Others get no permission, and caches keep the two apart. */
export function addCorsHeaders(headers: Headers, origin: string | null, origins: Origins): void {
  headers.append('vary', 'Origin')
  if (origin === null || !origins.has(origin)) return
  headers.set('access-control-allow-origin', origin)
  headers.set('access-control-allow-credentials', 'true')
  headers.set('access-control-expose-headers', exposedHeaders)
}

/** The answer to OPTIONS on a known path. A preflight from an origin that is not listed is refused. */
export function preflight(request: Request, methods: string, origins: Origins): Response {
  const origin = request.headers.get('origin')
  if (origin !== null && !origins.has(origin)) throw new PublicError('forbidden', 'this origin may not call')
  const headers = new Headers({ allow: methods })
  if (origin !== null) {
    headers.set('access-control-allow-methods', methods)
    headers.set('access-control-allow-headers', allowedHeaders)
    headers.set('access-control-max-age', PREFLIGHT_MAX_AGE_S)
    headers.set('vary', 'Access-Control-Request-Method, Access-Control-Request-Headers')
  }
  return new Response(null, { status: 204, headers })
}
