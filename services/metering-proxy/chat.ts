import { PublicError } from '@tollgate/contracts'
import { type Fields, isFields } from './json.ts'
import { type Media, mediaOf } from './media.ts'
import { refuseUnpriced } from './unpriced.ts'

/** A caller's chat completion request: what we look at, and everything that was sent. */
export interface ChatRequest {
  readonly model: string
  readonly stream: boolean
  /** The caller wants the usage chunk of a stream. */
  readonly includeUsage: boolean
  /** `n`: how many completions of one prompt. */
  readonly choices: number
  /** The completion limit that the caller gave: `max_completion_tokens`, or `max_tokens`, or the smaller of both. */
  readonly limit: number | null
  readonly media: Media
  readonly body: Fields
  /** The body as JSON without what each route says in its own way: `ownedFields`, and `cache_control`. Everything that the model reads is in it. */
  readonly text: string
}

/** The fields that a request to a provider sets anew. */
export const ownedFields = ['model', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens'] as const

const MODEL_CHARS_MAX = 256
/** OpenAI's own bound. */
const CHOICES_MAX = 128
/** Beyond any model: no limit, but a mistake. */
const LIMIT_MAX = 100_000_000

const withoutOwned = Object.fromEntries(ownedFields.map(field => [field, undefined]))
/** A cache write costs more than a prompt's tokens, and by its time to live: no kind of provider is asked for one. */
const CACHE_CONTROL = 'cache_control'
const cacheControl = new RegExp(`"${CACHE_CONTROL}":`, 'i')
/** In an assistant's message one of these may stand for its content. */
const INSTEAD_OF_CONTENT = ['tool_calls', 'function_call', 'refusal', 'audio'] as const
const NEEDING_CONTENT = new Set(['system', 'developer', 'user', 'tool'])

/** Checks what we rely on; the rest is the provider's to judge. Throws 400 with the field's name. */
export function readChat(body: Fields): ChatRequest {
  refuseUnpriced(body)
  const messages = messagesOf(body.messages)
  const stream = flag(body.stream, 'stream')
  const limits = [
    whole(body.max_completion_tokens, 'max_completion_tokens', LIMIT_MAX),
    whole(body.max_tokens, 'max_tokens', LIMIT_MAX),
  ]
  const given = limits.filter(value => value !== null)
  return {
    model: modelOf(body.model),
    stream,
    includeUsage: stream && isFields(body.stream_options) && body.stream_options.include_usage === true,
    choices: whole(body.n, 'n', CHOICES_MAX) ?? 1,
    limit: given.length > 0 ? Math.min(...given) : null,
    media: mediaOf(messages),
    body,
    text: textOf(body),
  }
}

export function modelOf(model: unknown): string {
  if (typeof model === 'string' && model !== '' && model.length <= MODEL_CHARS_MAX) return model
  throw bad('model', `must be a text of 1 to ${MODEL_CHARS_MAX} characters`)
}

function messagesOf(messages: unknown): readonly Fields[] {
  if (!Array.isArray(messages) || messages.length === 0) throw bad('messages', 'must be a list of at least one message')
  for (const message of messages) {
    if (!isFields(message) || typeof message.role !== 'string')
      throw bad('messages', 'each must be an object with a role')
    if (message.content == null && !mayLackContent(message)) throw bad('messages', 'each must have a content')
  }
  return messages
}

function mayLackContent(message: Fields): boolean {
  if (message.role === 'assistant') return INSTEAD_OF_CONTENT.some(field => message[field] != null)
  return !NEEDING_CONTENT.has(String(message.role))
}

function textOf(body: Fields): string {
  const asked = { ...body, ...withoutOwned }
  const text = JSON.stringify(asked)
  if (!cacheControl.test(text)) return text
  return JSON.stringify(asked, (key, value) => (key.toLowerCase() === CACHE_CONTROL ? undefined : value))
}

function flag(value: unknown, field: string): boolean {
  if (value === undefined || value === null) return false
  if (typeof value !== 'boolean') throw bad(field, 'must be true or false')
  return value
}

function whole(value: unknown, field: string, most: number): number | null {
  if (value === undefined || value === null) return null
  if (!Number.isSafeInteger(value) || Number(value) < 1 || Number(value) > most) {
    throw bad(field, `must be a whole number from 1 to ${most}`)
  }
  return Number(value)
}

function bad(field: string, problem: string): PublicError {
  return new PublicError('bad_request', `"${field}" ${problem}`)
}
