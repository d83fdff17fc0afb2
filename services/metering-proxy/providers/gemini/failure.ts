import { type Fields, isFields } from '../../json.ts'
import { cleaned, type FailureKind, retryAfterSeconds, UpstreamFailure } from '../failure.ts'

/** Google's status words say more than the HTTP status: a wrong key is a 400 too. */
const kinds: ReadonlyMap<unknown, FailureKind> = new Map([
  ['UNAUTHENTICATED', 'credentials'],
  ['PERMISSION_DENIED', 'credentials'],
  // The operator's country, or billing that is not set up.
  ['FAILED_PRECONDITION', 'credentials'],
  ['RESOURCE_EXHAUSTED', 'limited'],
  ['INVALID_ARGUMENT', 'refused'],
  ['OUT_OF_RANGE', 'refused'],
  ['NOT_FOUND', 'failed'],
])
const CREDENTIAL_STATUSES = new Set<unknown>([401, 402, 403])
const REQUEST_STATUSES = new Set<unknown>([400, 413, 422])
const wrongKey = /api key (?:not (?:valid|found)|expired)|api_key_invalid/i
const outOfCredit = /credits are depleted/i
/** "The input token count (5) exceeds the maximum number of tokens allowed (4)." */
const tooLong =
  /token count \((\d+)\) exceeds|exceeds the maximum number of tokens|maxOutputTokens.{0,80}(?:range|maximum)/i
const seconds = /^(\d+(?:\.\d+)?)s$/

/** A failure from an answer with an error status. */
export function readFailure(status: number, headers: Headers, body: string): UpstreamFailure {
  return make(errorIn(body), status, retryAfterSeconds(headers, Date.now()))
}

/** A failure from an error object that came with status 200, in a body or in a stream. */
export function failureOf(error: Fields): UpstreamFailure {
  return make(error, error.code, undefined)
}

function make(error: Fields, status: unknown, headerWait: number | undefined): UpstreamFailure {
  const message =
    typeof error.message === 'string' && error.message !== '' ? error.message : `the provider answered an error`
  const kind = kindOf(error, status, message)
  const promptTokens = kind === 'too_long' ? tooLong.exec(message)?.[1] : undefined
  const wait = headerWait ?? waitIn(error)
  return new UpstreamFailure(kind, cleaned(message), {
    ...(typeof status === 'number' && { status }),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
    ...(promptTokens !== undefined && { promptTokens: Number(promptTokens) }),
  })
}

function kindOf(error: Fields, status: unknown, message: string): FailureKind {
  const kind = kinds.get(error.status) ?? kindOfStatus(status)
  if (kind === 'limited') return outOfCredit.test(message) ? 'credentials' : kind
  if (kind !== 'refused') return kind
  if (wrongKey.test(message)) return 'credentials'
  return tooLong.test(message) ? 'too_long' : kind
}

function kindOfStatus(status: unknown): FailureKind {
  if (CREDENTIAL_STATUSES.has(status)) return 'credentials'
  if (status === 429) return 'limited'
  return REQUEST_STATUSES.has(status) ? 'refused' : 'failed'
}

/** How long Google asks to wait: in the details, where it has no header. */
function waitIn({ details }: Fields): number | undefined {
  const delays = (Array.isArray(details) ? details : []).map(detail => (isFields(detail) ? detail.retryDelay : null))
  const delay = delays.find(value => typeof value === 'string')
  const number = typeof delay === 'string' ? seconds.exec(delay)?.[1] : undefined
  return number === undefined ? undefined : Number(number)
}

/** The error of a body, which may stand in an array. */
function errorIn(body: string): Fields {
  try {
    const parsed: unknown = JSON.parse(body)
    const first = Array.isArray(parsed) ? parsed[0] : parsed
    if (isFields(first) && isFields(first.error)) return first.error
  } catch {
    // A proxy's page in between.
  }
  return {}
}
