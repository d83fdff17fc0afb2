import type { Fields } from '../json.ts'
import { type ReportedUsage, shownUsage, type Usage } from '../usage.ts'
import type { ChatAnswer, Chunk } from './provider.ts'

/** What all chunks of an answer have in common. */
export interface Stamp {
  readonly id: string
  /** Seconds since the epoch. */
  readonly created: number
  readonly model: string
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** What a model said in one choice. */
export interface Said {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ToolCall[]
  readonly finish: FinishReason
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  /** What the provider wants to see again with this call. */
  readonly extra?: Fields
}

/** For an answer of now, from a model that the provider may still name more exactly. */
export function newStamp(model: string): Stamp {
  return { id: `chatcmpl-${crypto.randomUUID()}`, created: Math.floor(Date.now() / 1000), model }
}

/** A whole answer in OpenAI's shape. */
export function completion(stamp: Stamp, choices: readonly Said[], reported: ReportedUsage | null): ChatAnswer {
  const body = {
    id: stamp.id,
    object: 'chat.completion',
    created: stamp.created,
    model: stamp.model,
    choices: choices.map((said, index) => ({
      index,
      message: messageOf(said),
      logprobs: null,
      finish_reason: said.finish,
    })),
    ...(reported && { usage: reported.shown }),
  }
  return { body, reported, text: choices.map(heard).join('') }
}

function messageOf({ text, reasoning, calls }: Said): Fields {
  return {
    role: 'assistant',
    // OpenAI's own answers have null where there is nothing but calls.
    content: text === '' ? null : text,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(shownCall) }),
  }
}

function heard({ text, reasoning, calls }: Said): string {
  return reasoning + text + calls.map(call => call.name + call.arguments).join('')
}

function shownCall({ id, name, arguments: args, extra }: ToolCall): Fields {
  return { id, type: 'function', function: { name, arguments: args }, ...(extra && { extra_content: extra }) }
}

/** Usage as OpenAI shows it: cached tokens inside the prompt's, reasoning inside the completion's. */
export function reportedUsage(usage: Usage, reasoningTokens: unknown): ReportedUsage {
  const shown = {
    ...shownUsage(usage),
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    ...(typeof reasoningTokens === 'number' && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
  return { usage, shown }
}

/** The sum of counts; null when one is none: with a negative one in it a sum would be a wrong bill, not a missing one. */
export function sumOfCounts(counts: readonly unknown[]): number | null {
  const whole = counts.filter(count => typeof count === 'number' && Number.isSafeInteger(count) && count >= 0)
  return whole.length === counts.length ? whole.reduce<number>((sum, count) => sum + Number(count), 0) : null
}

/** Carries usage alone. */
export function usageChunk(reported: ReportedUsage): Chunk {
  return { json: null, finishes: false, text: '', reported }
}

/** Writes one choice of a stream in OpenAI's shape: the role in its first chunk, one finish, calls numbered from 0. */
export interface ChoiceWriter {
  text(text: string): Chunk
  reasoning(text: string): Chunk
  /** Begins a call, and says which one it is. */
  call(call: ToolCall): { readonly position: number; readonly chunk: Chunk }
  /** More of a call's arguments. */
  argumentsOf(position: number, text: string): Chunk
  finish(reason: FinishReason): Chunk
  readonly calls: number
  readonly begun: boolean
  readonly finished: boolean
}

/** The stamp is asked for at each chunk: a provider may say its name for the answer late. */
export function choiceWriter(index: number, stamp: () => Stamp): ChoiceWriter {
  let begun = false
  let finished = false
  let calls = 0

  function write(delta: Fields, text: string, finish: FinishReason | null = null): Chunk {
    const { id, created, model } = stamp()
    const first = begun ? {} : { role: 'assistant', content: '' }
    begun = true
    const choice = { index, delta: { ...first, ...delta }, logprobs: null, finish_reason: finish }
    const json = JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [choice] })
    return { json, finishes: finish !== null, text, reported: null }
  }

  return {
    text: text => write({ content: text }, text),
    reasoning: text => write({ reasoning_content: text }, text),
    call(call) {
      const position = calls++
      const delta = { tool_calls: [{ index: position, ...shownCall(call) }] }
      return { position, chunk: write(delta, call.name + call.arguments) }
    },
    argumentsOf: (position, text) => write({ tool_calls: [{ index: position, function: { arguments: text } }] }, text),
    finish(reason) {
      finished = true
      return write({}, '', reason)
    },
    get calls() {
      return calls
    },
    get begun() {
      return begun
    },
    get finished() {
      return finished
    },
  }
}
