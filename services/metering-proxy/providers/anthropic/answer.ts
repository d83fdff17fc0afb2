import { type Fields, isFields } from '../../json.ts'
import { completion, type FinishReason, type Said, type Stamp, type ToolCall } from '../completion.ts'
import { UpstreamFailure } from '../failure.ts'
import type { ChatAnswer } from '../provider.ts'
import { failureOf } from './failure.ts'
import { readUsage } from './usage.ts'

/** `pause_turn` belongs to tools that run at Anthropic, which are never asked for. */
const finishes: ReadonlyMap<unknown, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** A whole answer. */
export function readAnswer(message: unknown, stamp: Stamp): ChatAnswer {
  if (!isFields(message)) throw new UpstreamFailure('failed', 'the provider answered no JSON object')
  if (message.type === 'error' || isFields(message.error)) throw failureOf(message.error)
  if (!Array.isArray(message.content)) throw new UpstreamFailure('failed', 'the provider answered without content')
  const said = saidIn(message.content.filter(isFields), finishOf(message.stop_reason))
  return completion(stampOf(message, stamp), [said], readUsage(message.usage))
}

export function finishOf(stopReason: unknown): FinishReason {
  return finishes.get(stopReason) ?? 'stop'
}

/** The name that Anthropic gave to this answer, and the exact name of the model. */
export function stampOf(message: Fields, stamp: Stamp): Stamp {
  return {
    id: typeof message.id === 'string' ? message.id : stamp.id,
    created: stamp.created,
    model: typeof message.model === 'string' ? message.model : stamp.model,
  }
}

/** Blocks of other types (redacted thinking, results of Anthropic's own tools) have no place in OpenAI's shape. */
function saidIn(blocks: readonly Fields[], finish: FinishReason): Said {
  const texts = blocks.map(block => (block.type === 'text' ? textIn(block.text) : ''))
  const thoughts = blocks.map(block => (block.type === 'thinking' ? textIn(block.thinking) : ''))
  const calls = blocks.filter(block => block.type === 'tool_use').map(callIn)
  return { text: texts.join(''), reasoning: thoughts.join(''), calls, finish }
}

function callIn({ id, name, input }: Fields): ToolCall {
  return { id: textIn(id), name: textIn(name), arguments: JSON.stringify(input ?? {}) }
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
