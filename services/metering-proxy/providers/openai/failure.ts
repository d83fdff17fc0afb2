import { type Fields, isFields } from '../../json.ts'
import { cleaned, type FailureKind, retryAfterSeconds, UpstreamFailure } from '../failure.ts'

/** OpenAI says 429 for three things: too often, too much at once, and no credit. Only the last is ours to mend. */
const NO_CREDIT_CODES = new Set<unknown>(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active'])
const TOO_LONG_CODES = new Set<unknown>(['context_length_exceeded'])
const tooLong = /context (?:length|window|size)|maximum context|max_(?:completion_)?tokens'?.{0,40}too large/i
/** "(20 in the messages, 100 in the completion)", "your prompt contains 20 input tokens", "resulted in 20 tokens". */
const promptLength = /(\d+) (?:in the messages|input tokens)|(?:resulted in|prompt contains(?: at least)?) (\d+)/i

/** A failure from an answer with an error status. */
export function readFailure(status: number, headers: Headers, body: string): UpstreamFailure {
  const error = errorIn(body)
  const message = messageOf(error) || `the provider answered ${status}`
  const wait = retryAfterSeconds(headers, Date.now())
  return make(kindOf(status, error, message), message, status, wait)
}

/** A failure from an error object that came with status 200, in a body or in a stream. */
export function failureOf(error: unknown): UpstreamFailure {
  const fields = isFields(error) ? error : { message: error }
  const message = messageOf(fields) || 'the provider answered an error'
  const status = typeof fields.code === 'number' ? fields.code : Number.NaN
  return make(Number.isNaN(status) ? 'failed' : kindOf(status, fields, message), message, status, undefined)
}

function make(kind: FailureKind, message: string, status: number, wait: number | undefined): UpstreamFailure {
  const counted = promptLength.exec(message)
  const promptTokens = counted ? Number(counted[1] ?? counted[2]) : undefined
  return new UpstreamFailure(kind, cleaned(message), {
    ...(Number.isInteger(status) && { status }),
    ...(wait !== undefined && { retryAfterSeconds: wait }),
    ...(promptTokens !== undefined && { promptTokens }),
  })
}

function kindOf(status: number, error: Fields, message: string): FailureKind {
  if (status === 401 || status === 402 || status === 403) return 'credentials'
  if (status === 429)
    return NO_CREDIT_CODES.has(error.code) || NO_CREDIT_CODES.has(error.type) ? 'credentials' : 'limited'
  if (status === 400 || status === 413 || status === 422) {
    return TOO_LONG_CODES.has(error.code) || tooLong.test(message) ? 'too_long' : 'refused'
  }
  return 'failed'
}

/** The error object of a body: OpenAI's, one in an array (Gemini's compatible door), or a bare message (vLLM, Ollama). */
function errorIn(body: string): Fields {
  try {
    const parsed: unknown = JSON.parse(body)
    const first = Array.isArray(parsed) ? parsed[0] : parsed
    if (!isFields(first)) return {}
    return isFields(first.error) ? first.error : { message: first.error ?? first.message ?? first.detail }
  } catch {
    return {}
  }
}

function messageOf(error: Fields): string {
  return typeof error.message === 'string' ? error.message : ''
}
