/**
 * Exchanges with Anthropic's API that others recorded, typed anew and shortened: only what we read is kept. Each names its
 * file, of packages/anthropic/src/__fixtures__ in vercel/ai (Apache-2.0) unless it says otherwise.
 */

const began = (id: string, model: string, usage: object) => ({
  type: 'message_start',
  message: { id, model, type: 'message', role: 'assistant', content: [], stop_reason: null, usage },
})
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta })
const text = (index: number, text: string) => delta(index, { type: 'text_delta', text })
const blockEnd = (index: number) => ({ type: 'content_block_stop', index })
const ended = (stop_reason: string, usage: object) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
})
const ping = { type: 'ping' }
const end = { type: 'message_stop' }
const noCache = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

/** anthropic-text.chunks.txt */
export const textStream = [
  began('msg_01QC4g3H', 'claude-sonnet-4-5-20250929', { input_tokens: 12, ...noCache, output_tokens: 1 }),
  block(0, { type: 'text', text: '' }),
  ping,
  text(0, 'Hello'),
  text(0, '! I'),
  text(0, "'m doing well, thank you for asking"),
  blockEnd(0),
  ended('end_turn', { input_tokens: 12, ...noCache, output_tokens: 30 }),
  end,
]

/** anthropic-text.json */
export const textAnswer = {
  model: 'claude-sonnet-4-5-20250929',
  id: 'msg_01VdEjxA',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: "Hello! I'm doing well, thanks for asking." }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 12, ...noCache, output_tokens: 29, service_tier: 'standard' },
}

/** anthropic-tool-no-args.chunks.txt */
export const toolWithoutArgumentsStream = [
  began('msg_01GE2RKp', 'claude-sonnet-4-5-20250929', { input_tokens: 565, ...noCache, output_tokens: 7 }),
  block(0, { type: 'text', text: '' }),
  text(0, "I'll update the issue list for"),
  text(0, ' you.'),
  blockEnd(0),
  ping,
  block(1, { type: 'tool_use', id: 'toolu_01QE1WLs', name: 'updateIssueList', input: {} }),
  ping,
  delta(1, { type: 'input_json_delta', partial_json: '' }),
  blockEnd(1),
  ended('tool_use', { input_tokens: 565, ...noCache, output_tokens: 48 }),
  end,
]

/** anthropic-json-other-tool.1.chunks.txt */
export const toolStream = [
  began('msg_01CD3XaZ', 'claude-haiku-4-5-20251001', { input_tokens: 843, ...noCache, output_tokens: 16 }),
  block(0, { type: 'tool_use', id: 'toolu_019Zvehf', name: 'weather', input: {} }),
  delta(0, { type: 'input_json_delta', partial_json: '' }),
  ping,
  delta(0, { type: 'input_json_delta', partial_json: '{"location": "San Francisco' }),
  ping,
  delta(0, { type: 'input_json_delta', partial_json: '"}' }),
  blockEnd(0),
  ended('tool_use', { input_tokens: 843, ...noCache, output_tokens: 28 }),
  end,
]

/** anthropic-json-other-tool.1.json */
export const toolAnswer = {
  model: 'claude-haiku-4-5-20251001',
  id: 'msg_01T8acYg',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'toolu_01PQjhxo', name: 'weather', input: { location: 'San Francisco' } }],
  stop_reason: 'tool_use',
  usage: { input_tokens: 843, ...noCache, output_tokens: 28 },
}

/** anthropic-clear-thinking.1.chunks.txt */
export const thinkingStream = [
  began('msg_01Y6V41g', 'claude-sonnet-4-5-20250929', { input_tokens: 69, ...noCache, output_tokens: 2 }),
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'The previous' }),
  delta(0, { type: 'thinking_delta', thinking: ' result was 925.' }),
  delta(0, { type: 'thinking_delta', thinking: '' }),
  delta(0, { type: 'signature_delta', signature: 'EvQBCkYI' }),
  blockEnd(0),
  block(1, { type: 'text', text: '' }),
  text(1, '925 ÷ 5 '),
  text(1, '= 185'),
  blockEnd(1),
  ended('end_turn', { input_tokens: 69, ...noCache, output_tokens: 53 }),
  end,
]

/** anthropic-claude-opus-5-reasoning-high.1.json */
export const thinkingAnswer = {
  model: 'claude-opus-5',
  id: 'msg_011CdMNh',
  type: 'message',
  content: [
    { type: 'thinking', thinking: 'I need to find all roots.', signature: 'CAISqwQK' },
    { type: 'text', text: 'The roots are 1, 2 and 3.' },
  ],
  stop_reason: 'end_turn',
  usage: { input_tokens: 51, ...noCache, output_tokens: 1_699, output_tokens_details: { thinking_tokens: 139 } },
}

/** anthropic-code-execution-20260120-prompt-cache.1.chunks.txt, its usage: what was cached is beside `input_tokens`. */
export const cacheStream = [
  began('msg_011CdYfp', 'claude-sonnet-5', {
    input_tokens: 2,
    cache_creation_input_tokens: 3_068,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 3_068, ephemeral_1h_input_tokens: 0 },
    output_tokens: 69,
  }),
  block(0, { type: 'server_tool_use', id: 'srvtoolu_011fxGj7', name: 'bash_code_execution', input: {} }),
  blockEnd(0),
  block(1, { type: 'text', text: '' }),
  text(1, 'Done.'),
  blockEnd(1),
  ended('end_turn', {
    input_tokens: 6,
    cache_creation_input_tokens: 3_337,
    cache_read_input_tokens: 6_289,
    output_tokens: 198,
    output_tokens_details: { thinking_tokens: 0 },
  }),
  end,
]

/** anthropic-message-delta-input-tokens.chunks.txt: the prompt's count grows until the end. */
export const growingUsageStream = [
  began('msg_3196a1cc', 'claude-opus-4-5-20251101', { input_tokens: 43, output_tokens: 1 }),
  block(0, { type: 'text', text: '' }),
  text(0, 'p'),
  ping,
  text(0, 'ong'),
  blockEnd(0),
  ended('end_turn', { input_tokens: 61, output_tokens: 2 }),
  end,
]

/** duplicate-message-start.chunks.txt: the last report has the output only. */
export const startedTwiceStream = [
  began('msg_dup', 'claude-3-haiku-20240307', { input_tokens: 17, output_tokens: 1 }),
  began('msg_dup', 'claude-3-haiku-20240307', { input_tokens: 17, output_tokens: 1 }),
  block(0, { type: 'text', text: '' }),
  text(0, 'Hello, World!'),
  blockEnd(0),
  ended('end_turn', { output_tokens: 227 }),
  end,
]

/** spliced-message-start.chunks.txt: a second answer begins inside of the first. */
export const splicedStream = [
  began('msg_first', 'claude-3-haiku-20240307', { input_tokens: 17, output_tokens: 1 }),
  block(0, { type: 'tool_use', id: 'toolu_first', name: 'test-tool', input: {} }),
  delta(0, { type: 'input_json_delta', partial_json: '{"value":"Spark' }),
  began('msg_second', 'claude-3-haiku-20240307', { input_tokens: 17, output_tokens: 1 }),
]

/** anthropic-refusal.chunks.txt */
export const refusalStream = [
  began('msg_01RefusalStream', 'claude-fable-5', { input_tokens: 18, ...noCache, output_tokens: 1 }),
  ping,
  ended('refusal', { input_tokens: 18, ...noCache, output_tokens: 5 }),
  end,
]

/** anthropic-refusal.json */
export const refusalAnswer = {
  model: 'claude-fable-5',
  id: 'msg_01RefusalExample',
  type: 'message',
  content: [],
  stop_reason: 'refusal',
  usage: { input_tokens: 18, ...noCache, output_tokens: 5 },
}

/** anthropics/anthropic-sdk-typescript (MIT), tests/streaming.test.ts */
export const overloadedEvent = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }

const invalid = (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } })

/** anthropic-issue-17366-error.json */
export const refusedError = invalid(
  'messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: srvtoolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
)

/** docker/docker-agent issue 569 */
export const overContextError = invalid(
  'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
)

/** whoz-oss/coday issue 26 */
export const tooLongError = invalid('prompt is too long: 207791 tokens > 200000 maximum')
