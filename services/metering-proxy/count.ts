import { type ChatRequest, ownedFields } from './chat.ts'
import type { WorstCase } from './estimate.ts'
import { type Fields, isFields } from './json.ts'
import { countTokens } from './tokenizer.ts'
import type { Usage } from './usage.ts'

/** What a model said: its beginning, and how long the whole was. */
export interface Said {
  readonly text: string
  readonly chars: number
}

/** Text that is counted exactly; beyond it the count goes on by proportion. It is kept for every stream: so it is short. */
const COUNTED_CHARS_MAX = 64 * 1024
/** What OpenAI adds to a chat: tokens for each message, and for the start of the answer. */
const TOKENS_PER_MESSAGE = 3
const TOKENS_PER_ANSWER = 3

/**
 * Counts what a provider did not report, with OpenAI's tokenizer, whatever the model: an estimate, marked as one to the caller.
 * `promptTokens` never exceeds the bound that was held.
 */
export async function countUsage(chat: ChatRequest, worst: WorstCase, said: Said): Promise<Usage> {
  const { messages, ...rest } = chat.body
  const prompt = listener()
  const read = listIn(messages)
  for (const message of read) prompt.hear(`${textOf(message)}\n`)
  prompt.hear(besides(rest, ownedFields))
  const [promptTokens, completionTokens] = await Promise.all([tokensIn(prompt), tokensIn(said)])
  const template = read.length * TOKENS_PER_MESSAGE + TOKENS_PER_ANSWER
  return {
    promptTokens: Math.min(promptTokens + template + worst.mediaTokens, worst.promptTokens),
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens,
  }
}

/** Collects what is said, bounded. */
export function listener(): Said & { hear(text: string): void } {
  let heard = ''
  let chars = 0
  return {
    hear(text) {
      chars += text.length
      if (heard.length < COUNTED_CHARS_MAX) heard += text.slice(0, COUNTED_CHARS_MAX - heard.length)
    },
    get text() {
      return heard
    },
    get chars() {
      return chars
    },
  }
}

/** Tokens of a text of which the beginning is known. */
export async function tokensIn({ text, chars }: Said): Promise<number> {
  if (text === '') return 0
  return Math.ceil((await countTokens(text)) * (chars / text.length))
}

/** All that a message says: its content without the media, and what stands beside it, such as calls and a name. */
function textOf({ content, ...rest }: Fields): string {
  const parts = typeof content === 'string' ? [content] : Array.isArray(content) ? content.map(textOfPart) : []
  return parts.join('\n') + besides(rest, ['role'])
}

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part
  const text = isFields(part) ? (part.text ?? part.refusal) : null
  return typeof text === 'string' ? text : ''
}

/** Other fields as JSON. A number or a flag is a setting, which no model reads; of the rest it may be told. */
function besides(fields: Fields, without: readonly string[]): string {
  const told = Object.entries(fields).filter(
    ([field, value]) =>
      !without.includes(field) && (typeof value === 'string' || (typeof value === 'object' && value !== null)),
  )
  return told.length === 0 ? '' : JSON.stringify(Object.fromEntries(told))
}

function listIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}
