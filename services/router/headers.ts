import { IDENTITY_HEADER, REQUEST_ID_HEADER, type RequestId, randomHex } from '@tollgate/contracts'

/**
 * What a service hears of a caller's headers. Everything else stays at the edge: credentials (the identity says who calls),
 * hop-by-hop and forwarding headers, and above all a caller's own copy of the identity.
 */
const passedOn = [
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'openai-organization',
  'openai-project',
  'origin',
  'user-agent',
  'x-stainless-retry-count',
  'x-stainless-lang',
  'x-stainless-package-version',
] as const

/** What a caller does not hear of a service's answer: the connection between us, and what the edge itself decides. */
const keptBack = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'date',
  'server',
  'x-powered-by',
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
  IDENTITY_HEADER,
  REQUEST_ID_HEADER,
] as const

const traceparentForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The headers of the request to a service. */
export function headersForService(caller: Headers, identity: string, requestId: RequestId): Headers {
  const headers = new Headers()
  for (const name of passedOn) {
    const value = caller.get(name)
    if (value !== null) headers.set(name, value)
  }
  headers.set('accept-encoding', 'identity')
  headers.set(IDENTITY_HEADER, identity)
  headers.set(REQUEST_ID_HEADER, requestId)
  passTraceOn(caller, headers)
  return headers
}

/** The headers of the answer to the caller. */
export function headersForCaller(service: Headers): Headers {
  const headers = new Headers(service)
  for (const name of keptBack) headers.delete(name)
  return headers
}

/** The trace goes on where it is well formed, and begins here where it is not. */
function passTraceOn(caller: Headers, headers: Headers): void {
  const traceparent = caller.get('traceparent')
  if (traceparent === null || !traceparentForm.test(traceparent)) {
    headers.set('traceparent', `00-${randomHex(16)}-${randomHex(8)}-01`)
    return
  }
  headers.set('traceparent', traceparent)
  const tracestate = caller.get('tracestate')
  if (tracestate !== null) headers.set('tracestate', tracestate)
}
