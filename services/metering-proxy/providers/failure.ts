/**
 * Why a provider gave no answer:
 * - `refused`: the request itself is wrong, on any route; `message` is the provider's, cleaned for the caller
 * - `too_long`: prompt and limit exceed the context; `promptTokens` when the provider said how long the prompt is
 * - `credentials`: our key, our credit or our permission there: the operator must act
 * - `limited`: we ask too often; another route may serve
 * - `failed`: anything else; nothing about the caller's request is known to be wrong
 */
export type FailureKind = 'refused' | 'too_long' | 'credentials' | 'limited' | 'failed'

export interface FailureDetail {
  readonly status?: number
  readonly promptTokens?: number
  readonly retryAfterSeconds?: number
  /** How the request ended, where that is not the provider's doing. */
  readonly outcome?: 'aborted' | 'timed_out' | 'shutdown'
  /** The route that a request was sent to when its caller left. */
  readonly asked?: string
  readonly cause?: unknown
}

/** A provider's failure. Its message reaches a caller only when `kind` is `refused` or `too_long`; the log gets all. */
export class UpstreamFailure extends Error {
  readonly kind: FailureKind
  readonly detail: FailureDetail

  constructor(kind: FailureKind, message: string, detail: FailureDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'UpstreamFailure'
    this.kind = kind
    this.detail = detail
  }
}

const MESSAGE_CHARS_MAX = 500
const secrets = [
  // Keys, tokens and organizations, whole or masked as providers print them.
  /\b(?:sk|pk|rk|gsk|xai|key|org|proj|api|AIza)[-_]?[A-Za-z0-9*_-]{8,}/g,
  /\bbearer\s+\S+/gi,
  /\b[a-z][a-z0-9+.-]*:\/\/\S+/gi,
  /\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g,
  /\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|ai|dev|internal|local|cloud|app|co)\b(?::\d+)?\S*/gi,
  /\blocalhost(?::\d+)?\b/gi,
]

/** A provider's text as a caller may read it: without keys, organizations, addresses and hosts, on one line, not long. */
export function cleaned(message: string): string {
  const line = [...message].map(character => (character < ' ' ? ' ' : character)).join('')
  const clean = secrets.reduce(
    (text, secret) => text.replace(secret, '[removed]'),
    line.slice(0, MESSAGE_CHARS_MAX * 4),
  )
  return clean.slice(0, MESSAGE_CHARS_MAX).trim()
}

/** Seconds of a `retry-after` header, in either of its forms; undefined when there is none that makes sense. */
export function retryAfterSeconds(headers: Headers, nowMs: number): number | undefined {
  const text = headers.get('retry-after')
  if (!text) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : (Date.parse(text) - nowMs) / 1000
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}
