import { type Fields, isFields } from '../../json.ts'
import { cleaned, type FailureKind, retryAfterSeconds, UpstreamFailure } from '../failure.ts'

const kinds: ReadonlyMap<unknown, FailureKind> = new Map([
  ['authentication_error', 'credentials'],
  ['billing_error', 'credentials'],
  ['permission_error', 'credentials'],
  ['rate_limit_error', 'limited'],
  ['invalid_request_error', 'refused'],
  ['request_too_large', 'refused'],
  // A model that the catalogue names wrongly.
  ['not_found_error', 'failed'],
  ['timeout_error', 'failed'],
  ['api_error', 'failed'],
  ['overloaded_error', 'failed'],
])
const CREDENTIAL_STATUSES = new Set([401, 402, 403])
const REQUEST_STATUSES = new Set([400, 413, 422])
/** Both come as an invalid request, with status 400. */
const outOfCredit = /credit balance is too low|api usage limits/i
/** "prompt is too long: 5 tokens > 4 maximum", "…exceed context limit: 5 + 6 > 7", "max_tokens: 9 > 8, which is the maximum…" */
const tooLong = /prompt is too long(?:: (\d+) tokens)?|exceed context limit(?:: (\d+) \+)?|max_tokens: \d+ > \d+/i

/** A failure from an answer with an error status. */
export function readFailure(status: number, headers: Headers, body: string): UpstreamFailure {
  const error = errorIn(body)
  return make(error, `the provider answered ${status}`, { status, wait: retryAfterSeconds(headers, Date.now()) })
}

/** A failure from an error object that came with status 200, in a body or in a stream. */
export function failureOf(error: unknown): UpstreamFailure {
  return make(isFields(error) ? error : {}, 'the provider answered an error', {})
}

function make(
  error: Fields,
  otherwise: string,
  { status, wait }: { status?: number; wait?: number | undefined },
): UpstreamFailure {
  const message = typeof error.message === 'string' && error.message !== '' ? error.message : otherwise
  const kind = kinds.get(error.type) ?? kindOf(status)
  const long = kind === 'refused' ? tooLong.exec(message) : null
  const promptTokens = long?.[1] ?? long?.[2]
  return new UpstreamFailure(refinedKind(kind, message, long !== null), cleaned(message), {
    ...(status !== undefined && { status }),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
    ...(promptTokens !== undefined && { promptTokens: Number(promptTokens) }),
  })
}

function refinedKind(kind: FailureKind, message: string, isLong: boolean): FailureKind {
  if (kind !== 'refused') return kind
  if (outOfCredit.test(message)) return 'credentials'
  return isLong ? 'too_long' : 'refused'
}

function kindOf(status: number | undefined): FailureKind {
  if (status === undefined) return 'failed'
  if (CREDENTIAL_STATUSES.has(status)) return 'credentials'
  if (status === 429) return 'limited'
  return REQUEST_STATUSES.has(status) ? 'refused' : 'failed'
}

function errorIn(body: string): Fields {
  try {
    const parsed: unknown = JSON.parse(body)
    if (isFields(parsed) && isFields(parsed.error)) return parsed.error
  } catch {
    // A proxy's page in between.
  }
  return {}
}
