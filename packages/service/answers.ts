import { BusFault } from '@tollgate/bus'
import { PublicError } from '@tollgate/contracts'
import { DatabaseUnavailable } from '@tollgate/db'
import { ValidationError } from 'elysia'
import type { Log } from './log.ts'

/** Elysia's own codes for what a caller can get wrong. */
const CALLER_CODES = new Set(['PARSE', 'INVALID_COOKIE_SIGNATURE', 'INVALID_FILE_TYPE'])
const UNAVAILABLE_RETRY_S = 1

/**
 * The listed answer to anything thrown. Faults become a generic body with the request id, and the log gets the cause;
 * whatever is written for callers passes as it is.
 */
export function publicErrorOf(error: unknown, log: Log, requestId: string | undefined): PublicError {
  if (error instanceof PublicError) return error
  if (error instanceof ValidationError) return new PublicError('bad_request', validationMessage(error))
  const code = codeOf(error)
  if (code === 'NOT_FOUND') return new PublicError('not_found', 'there is nothing at this path')
  if (code && CALLER_CODES.has(code)) return new PublicError('bad_request', 'the body must be JSON')
  if (error instanceof DatabaseUnavailable || (error instanceof BusFault && error.kind === 'unavailable')) {
    log.warn({ err: error, requestId }, 'a dependency did not answer')
    return new PublicError(
      'service_unavailable',
      `a dependency is down for a moment; try again${reference(requestId)}`,
      {
        retryAfterSeconds: UNAVAILABLE_RETRY_S,
        cause: error,
      },
    )
  }
  log.error({ err: error, requestId }, 'a request failed')
  return new PublicError('internal_error', `something went wrong on our side${reference(requestId)}`, { cause: error })
}

function reference(requestId: string | undefined): string {
  return requestId ? ` (request ${requestId})` : ''
}

function codeOf(error: unknown): string | null {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null
}

/** Names the field and what it should be; never what was sent, which may hold a prompt or a secret. */
function validationMessage(error: ValidationError): string {
  const [first] = error.all
  const path =
    first && 'path' in first && typeof first.path === 'string' ? first.path.slice(1).replaceAll('/', '.') : ''
  const expected = first && 'message' in first && typeof first.message === 'string' ? first.message : 'invalid'
  return path ? `${error.type} field "${path}": ${expected}` : `${error.type}: ${expected}`
}
