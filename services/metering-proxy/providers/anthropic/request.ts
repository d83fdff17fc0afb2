import type { ChatRequest } from '../../chat.ts'
import type { Fields } from '../../json.ts'
import { readConversation } from '../conversation.ts'
import { given, type Options, readOptions, type Tool } from '../options.ts'
import type { Target, UpstreamRequest } from '../provider.ts'
import { refused } from '../refused.ts'
import { messagesOf, textBlock } from './messages.ts'
import { thinkingOf } from './thinking.ts'

const API_VERSION = '2023-06-01'
const TEMPERATURE_MAX = 1

/**
 * The request in Anthropic's form. What it has no field for is dropped (penalties, seed, user, metadata, …), as Anthropic's
 * own OpenAI door does; what would change the answer's meaning is refused (`options.ts`, more than one choice, JSON without
 * a schema). Prices of 5-minute and 1-hour cache writes differ, so no `cache_control` is passed on.
 */
export function chatRequest({ baseUrl, apiKey, model }: Target, chat: ChatRequest, limit: number): UpstreamRequest {
  if (chat.choices > 1) throw refused('this model gives one choice: "n" must be 1')
  const { instructions, turns } = readConversation(chat.body.messages)
  const options = readOptions(chat.body)
  const answered = turns.findLast(turn => turn.role === 'assistant')
  const inToolLoop = answered !== undefined && answered.calls.length > 0
  const { thinking, effort } = thinkingOf(options.effort, { model, limit, inToolLoop })
  const body = {
    model,
    max_tokens: limit,
    stream: chat.stream,
    ...(instructions.length > 0 && { system: instructions.map(textBlock) }),
    messages: messagesOf(turns),
    ...given({ temperature: temperatureOf(chat.body.temperature), top_p: chat.body.top_p, top_k: chat.body.top_k }),
    ...(options.stop.length > 0 && { stop_sequences: options.stop }),
    ...(options.tools.length > 0 && { tools: options.tools.map(toolOf), tool_choice: toolChoiceOf(options) }),
    ...outputConfig(options, effort),
    ...(thinking && { thinking }),
  }
  const headers = {
    'content-type': 'application/json',
    'anthropic-version': API_VERSION,
    ...(apiKey && { 'x-api-key': apiKey.reveal() }),
  }
  return { url: `${baseUrl}/messages`, headers, body: JSON.stringify(body) }
}

function toolOf({ name, description, schema }: Tool): Fields {
  return { name, ...given({ description }), input_schema: schema ?? { type: 'object', properties: {} } }
}

function toolChoiceOf({ toolChoice, singleCalls }: Options): Fields {
  if (toolChoice === 'none') return { type: 'none' }
  const single = singleCalls && { disable_parallel_tool_use: true }
  if (toolChoice === null || toolChoice === 'auto') return { type: 'auto', ...single }
  if (toolChoice === 'required') return { type: 'any', ...single }
  return { type: 'tool', name: toolChoice.name, ...single }
}

function outputConfig({ format }: Options, effort: string | null): Fields {
  if (format?.type === 'json') {
    throw refused('this model has no "json_object" format: use "json_schema" with a schema')
  }
  const config = given({ format: format && { type: 'json_schema', schema: format.schema }, effort })
  return Object.keys(config).length > 0 ? { output_config: config } : {}
}

/** OpenAI's scale goes to 2; Anthropic's own OpenAI door caps likewise. */
function temperatureOf(temperature: unknown): unknown {
  return typeof temperature === 'number' ? Math.min(temperature, TEMPERATURE_MAX) : temperature
}
