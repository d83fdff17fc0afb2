import { PublicError } from '@tollgate/contracts'
import type { UpstreamFailure } from './providers/failure.ts'

/** The listed answer to a provider's failure. Only what is wrong with the request itself reaches the caller in the provider's words. */
export function answerTo({ kind, message, detail }: UpstreamFailure): PublicError {
  const retry = detail.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: detail.retryAfterSeconds }
  if (kind === 'refused' || kind === 'too_long') return new PublicError('bad_request', message)
  if (kind === 'credentials') {
    return new PublicError(
      'service_misconfigured',
      'the provider does not accept our credentials; the operator is told',
    )
  }
  if (kind === 'limited') {
    return new PublicError(
      'upstream_error',
      'the model provider takes no more requests just now; retry or switch model',
      {
        retryAfterSeconds: detail.retryAfterSeconds ?? LIMITED_RETRY_S,
      },
    )
  }
  if (detail.outcome === 'shutdown') {
    return new PublicError('service_unavailable', 'the service restarts; retry', { retryAfterSeconds: 1 })
  }
  if (detail.outcome === 'timed_out') {
    return new PublicError('upstream_error', 'the model provider took too long; retry or switch model', retry)
  }
  return new PublicError('upstream_error', 'the model provider failed; retry or switch model', retry)
}

const LIMITED_RETRY_S = 5
