/**
 * Every public error code and its HTTP status: the table of interface.md, "Errors".
 * A test holds the two against each other; a code that is not here can't be answered.
 */
export const publicErrors = {
  bad_request: 400,
  unauthorized: 401,
  insufficient_credits: 402,
  forbidden: 403,
  not_found: 404,
  rate_limited: 429,
  internal_error: 500,
  upstream_error: 502,
  service_misconfigured: 503,
  service_unavailable: 503,
} as const

export type PublicErrorCode = keyof typeof publicErrors

/** The body of every error answer, exactly. */
export interface ErrorBody {
  error: { message: string; code: PublicErrorCode }
}

export function errorBody(code: PublicErrorCode, message: string): ErrorBody {
  return { error: { message, code } }
}

/**
 * A listed answer to a caller, carried as a value of control flow up to the HTTP edge.
 * `message` is written for the caller: it says what to do next and holds nothing internal.
 */
export class PublicError extends Error {
  readonly code: PublicErrorCode
  readonly retryAfterSeconds: number | undefined

  constructor(code: PublicErrorCode, message: string, options: { retryAfterSeconds?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'PublicError'
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status(): number {
    return publicErrors[this.code]
  }

  /** The answer itself; `retry-after` in whole seconds, at most 60: the SDKs ignore longer ones (research: clients, 1.3). */
  toResponse(): Response {
    const headers = new Headers({ 'content-type': 'application/json; charset=utf-8' })
    if (this.retryAfterSeconds !== undefined) {
      headers.set('retry-after', String(Math.min(60, Math.max(1, Math.ceil(this.retryAfterSeconds)))))
    }
    return new Response(JSON.stringify(errorBody(this.code, this.message)), { status: this.status, headers })
  }
}
