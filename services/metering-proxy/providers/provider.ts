import type { Secret } from '@tollgate/service'
import type { ChatRequest } from '../chat.ts'
import type { Fields } from '../json.ts'
import type { ServerEvent } from '../sse.ts'
import type { ReportedUsage } from '../usage.ts'
import type { UpstreamFailure } from './failure.ts'

/**
 * How a kind of provider is spoken to: a folder of its own, named in `providers/index.ts`, that imports nothing of other kinds.
 * All functions are pure; what they throw is an `UpstreamFailure`.
 */
export interface Provider {
  readonly kind: string
  /** The prompt's bound, before the catalogue's own `byteMultiplier`. */
  readonly bound: PromptBound
  /** The HTTP request for a completion of at most `limit` tokens per choice: sent always, in the field that binds. */
  chat(target: Target, chat: ChatRequest, limit: number): UpstreamRequest
  /** A whole answer in OpenAI's shape. Throws the failure that it is when it is none, whatever its status said. */
  answer(body: unknown, target: Target): ChatAnswer
  /** Reads one stream, event by event. */
  reader(target: Target, chat: ChatRequest): StreamReader
  /** What an answer with a status other than 200 means. `body` is text: it may be anything. */
  failure(status: number, headers: Headers, body: string): UpstreamFailure
  /** The HTTP request for embeddings; left out by kinds that have none in OpenAI's shape. */
  embeddings?(target: Target, body: Fields): UpstreamRequest
}

/**
 * Bounds a prompt in tokens without a tokenizer: bytes of UTF-8, of which those outside ASCII count `byteMultiplier` times
 * where the tokenizer normalizes (NFC makes up to 3 bytes of one, NFKC 11), and what the provider's template adds.
 */
export interface PromptBound {
  readonly byteMultiplier: number
  readonly perRequest: number
  readonly perMessage: number
  readonly perTool: number
}

/** A provider of the catalogue, and the model's name there. */
export interface Target {
  readonly baseUrl: string
  readonly apiKey: Secret | null
  readonly model: string
  /** The field that limits a completion, where kinds have a choice; null for the kind's own decision. */
  readonly limitField: string | null
}

export interface UpstreamRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface ChatAnswer {
  /** In OpenAI's shape; fields of the provider's own stay. */
  readonly body: Fields
  readonly reported: ReportedUsage | null
  /** What the model said, for counting where usage is missing. */
  readonly text: string
}

/** State of one stream's translation. */
export interface StreamReader {
  /** The chunks that one event makes, none or more. Throws the failure that an error event is, or that no chunk it is. */
  read(event: ServerEvent): readonly Chunk[]
  /** `open`: an end now would be a cut. `finished`: whole, but usage may follow. `ended`: nothing follows that matters. */
  readonly state: 'open' | 'finished' | 'ended'
}

/** A piece of a streamed answer in OpenAI's shape. */
export interface Chunk {
  /** The chunk as JSON text, an object with `choices` and without `usage`. Null when the event only carried usage. */
  readonly json: string | null
  /** It ends a choice (`finish_reason`). */
  readonly finishes: boolean
  /** What the model said in it, reasoning included, for counting where usage is missing. */
  readonly text: string
  /** The latest report wins; reports are never added up. Null when this event carried none. */
  readonly reported: ReportedUsage | null
}
