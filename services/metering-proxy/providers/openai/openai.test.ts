import { expect, test } from 'bun:test'
import { Secret } from '@tollgate/service'
import { readChat } from '../../chat.ts'
import { parseBody } from '../../json.ts'
import type { ServerEvent } from '../../sse.ts'
import { type FailureKind, UpstreamFailure } from '../failure.ts'
import type { Target } from '../provider.ts'
import { openai } from './index.ts'

// Shapes of recorded exchanges: api.openai.com and Azure from envoyproxy/ai-gateway, tests/internal/testopenai/cassettes;
// DeepSeek, Groq, Together, OpenRouter, vLLM and Ollama from their API references. Texts are our own.
const target: Target = {
  baseUrl: 'https://api.openai.com/v1',
  apiKey: new Secret('sk-1'),
  model: 'gpt-5-nano',
  limitField: null,
}
const chat = (body: object = {}) =>
  readChat(
    parseBody(
      Buffer.from(JSON.stringify({ model: 'ours', messages: [{ role: 'developer', content: 'Hi' }], ...body })),
    ),
  )
const usage = {
  prompt_tokens: 12,
  completion_tokens: 100,
  total_tokens: 112,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 100,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
}
const head = {
  id: 'chatcmpl-C4',
  object: 'chat.completion.chunk',
  created: 1_755_137_921,
  model: 'gpt-5-nano-2025-08-07',
  service_tier: 'default',
  system_fingerprint: null,
}

function read(datas: readonly (object | string)[]) {
  const reader = openai.reader(target, chat({ stream: true }))
  const events = datas.map(
    (data): ServerEvent => ({ name: '', data: typeof data === 'string' ? data : JSON.stringify(data) }),
  )
  return { chunks: events.flatMap(event => reader.read(event)), state: reader.state }
}
function failureOf(run: () => unknown): UpstreamFailure {
  try {
    run()
  } catch (error) {
    if (error instanceof UpstreamFailure) return error
  }
  throw new Error('no failure')
}
const counted = (report: unknown) => openai.answer({ choices: [], usage: report }, target).reported?.usage ?? null

test('a request carries the route’s model, its key, and the limit in the field that binds there', () => {
  const sent = openai.chat(target, chat({ max_tokens: 5, temperature: 0, stream_options: { x: 1 } }), 9)
  expect(sent.url).toBe('https://api.openai.com/v1/chat/completions')
  expect(sent.headers).toEqual({ 'content-type': 'application/json', authorization: 'Bearer sk-1' })
  expect(JSON.parse(sent.body)).toEqual({
    messages: [{ role: 'developer', content: 'Hi' }],
    temperature: 0,
    model: 'gpt-5-nano',
    max_completion_tokens: 9,
    stream: false,
  })
  const fieldAt = (baseUrl: string, limitField: string | null = null) =>
    Object.keys(JSON.parse(openai.chat({ ...target, baseUrl, limitField }, chat(), 9).body)).filter(field =>
      field.startsWith('max'),
    )
  expect(fieldAt('https://mine.openai.azure.com/openai/v1')).toEqual(['max_completion_tokens'])
  expect(fieldAt('http://127.0.0.1:11434/v1')).toEqual(['max_tokens'])
  expect(fieldAt('https://api.openai.com.evil.example/v1')).toEqual(['max_tokens'])
  expect(fieldAt('http://127.0.0.1:11434/v1', 'max_completion_tokens')).toEqual(['max_completion_tokens'])
  expect(openai.chat({ ...target, apiKey: null }, chat(), 9).headers).not.toHaveProperty('authorization')
})

test('OpenAI: a reasoning stream that says nothing and is billed in full', () => {
  const delta = (fields: object, finish_reason: string | null) => ({
    ...head,
    choices: [{ index: 0, delta: fields, finish_reason }],
    usage: null,
    obfuscation: 'x',
  })
  const { chunks, state } = read([
    delta({ role: 'assistant', content: '', refusal: null }, null),
    delta({}, 'length'),
    { ...head, choices: [], usage, obfuscation: 't9' },
    '[DONE]',
  ])
  expect(state).toBe('ended')
  expect(chunks.map(({ finishes, text }) => ({ finishes, text }))).toEqual([
    { finishes: false, text: '' },
    { finishes: true, text: '' },
    { finishes: false, text: '' },
  ])
  expect(chunks.map(chunk => chunk.json === null)).toEqual([false, false, true])
  expect(chunks[0]?.json).not.toContain('usage')
  expect(chunks.at(-1)?.reported).toEqual({
    usage: { promptTokens: 12, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 100 },
    shown: usage,
  })
})

test('OpenAI: tool calls, and what of them is counted', () => {
  const call = (fields: object) => ({
    ...head,
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...fields }] }, finish_reason: null }],
  })
  const { chunks } = read([
    call({ id: 'call_X', type: 'function', function: { name: 'weather', arguments: '' } }),
    call({ function: { arguments: '{"city":' } }),
    call({ function: { arguments: '"Rome"}' } }),
  ])
  expect(chunks.map(chunk => chunk.text)).toEqual(['weather', '{"city":', '"Rome"}'])
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_X', type: 'function', function: { name: 'weather', arguments: '{}' } }],
    annotations: [],
  }
  const body = {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage,
  }
  expect(openai.answer(body, target)).toEqual({ body, reported: expect.anything(), text: 'weather{}' })
})

test('Azure: a first chunk without choices but with filter results passes', () => {
  const { chunks, state } = read([
    { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
  ])
  expect(chunks).toHaveLength(1)
  expect(chunks[0]?.json).toContain('prompt_filter_results')
  expect(state).toBe('open')
})

test('each provider’s way to report its cache', () => {
  const buckets = (promptTokens: number, cachedTokens: number, cacheWriteTokens: number, completionTokens: number) => ({
    promptTokens,
    cachedTokens,
    cacheWriteTokens,
    completionTokens,
  })
  expect(
    counted({
      ...usage,
      prompt_tokens: 2_006,
      prompt_tokens_details: { cached_tokens: 1_920, cache_write_tokens: 50 },
    }),
  ).toEqual(buckets(2_006, 1_920, 50, 100))
  // DeepSeek
  expect(
    counted({ prompt_tokens: 30, completion_tokens: 5, prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 10 }),
  ).toEqual(buckets(30, 20, 0, 5))
  // Together
  expect(counted({ prompt_tokens: 30, completion_tokens: 5, total_tokens: 35 })).toEqual(buckets(30, 0, 0, 5))
  expect(counted(null)).toBeNull()
  // OpenRouter: its own idea of the cost is not ours
  expect(counted({ prompt_tokens: 30, completion_tokens: 5, cost: 0 })).toEqual(buckets(30, 0, 0, 5))
  // Groq, mid-stream and at the end
  const groq = read([
    {
      ...head,
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      x_groq: { id: 'req_1', usage: { prompt_tokens: 30, completion_tokens: 5 } },
    },
  ])
  expect(groq.chunks[0]?.reported?.usage).toEqual(buckets(30, 0, 0, 5))
})

test('reasoning that is reported beside the completion is billed, and shown inside of it', () => {
  const details = { completion_tokens_details: { reasoning_tokens: 94 } }
  const xai = { prompt_tokens: 32, completion_tokens: 9, total_tokens: 135, ...details }
  const { reported } = openai.answer({ choices: [], usage: xai }, target)
  expect(reported?.usage).toMatchObject({ promptTokens: 32, completionTokens: 103 })
  expect(reported?.shown).toEqual({ ...xai, completion_tokens: 103 })
  const inside = { prompt_tokens: 32, completion_tokens: 103, total_tokens: 135, ...details }
  expect(counted(inside)).toMatchObject({ promptTokens: 32, completionTokens: 103 })
})

test('an error that comes with status 200 is a failure: in a body, in a stream, in a corner of it', () => {
  // OpenRouter puts the status into the code.
  expect(failureOf(() => openai.answer({ error: { code: 402, message: 'Insufficient credits' } }, target)).kind).toBe(
    'credentials',
  )
  expect(failureOf(() => openai.answer({ error: { message: 'Provider returned error' } }, target)).kind).toBe('failed')
  expect(failureOf(() => read([{ ...head, choices: [], error: { code: 502, message: 'Upstream idle' } }])).kind).toBe(
    'failed',
  )
  expect(failureOf(() => read([{ ...head, choices: [], x_groq: { error: 'over capacity' } }])).kind).toBe('failed')
})

const failures: [string, number, object | string, FailureKind, Partial<UpstreamFailure>][] = [
  [
    'OpenAI, bad parameter',
    400,
    {
      error: {
        code: 'unsupported_value',
        message: "'temperature' must be 1",
        param: 'temperature',
        type: 'invalid_request_error',
      },
    },
    'refused',
    { message: "'temperature' must be 1" },
  ],
  [
    'OpenAI, wrong key',
    401,
    {
      error: {
        message:
          'Incorrect API key provided: sk-ab***********xyz1. You can find your API key at https://platform.openai.com/account/api-keys.',
        code: 'invalid_api_key',
      },
    },
    'credentials',
    { message: 'Incorrect API key provided: [removed]. You can find your API key at [removed]' },
  ],
  [
    'OpenAI, unknown model',
    404,
    { error: { message: 'The model `x` does not exist', code: 'model_not_found' } },
    'failed',
    {},
  ],
  [
    'OpenAI, too often',
    429,
    { error: { message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' } },
    'limited',
    {},
  ],
  [
    'OpenAI, no credit',
    429,
    { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } },
    'credentials',
    {},
  ],
  [
    'OpenAI, too long',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion).",
        code: 'context_length_exceeded',
      },
    },
    'too_long',
    { detail: { status: 400, promptTokens: 5_000 } },
  ],
  [
    'vLLM, too long',
    400,
    {
      object: 'error',
      message:
        "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 24 input tokens",
      type: 'BadRequestError',
      code: 400,
    },
    'too_long',
    { detail: { status: 400, promptTokens: 24 } },
  ],
  ['DeepSeek, no balance', 402, { error: { message: 'Insufficient Balance' } }, 'credentials', {}],
  ['DeepSeek, bad parameter', 422, { error: { message: 'Invalid parameters' } }, 'refused', {}],
  ['Ollama, a text as error', 400, { error: 'invalid message role' }, 'refused', { message: 'invalid message role' }],
  [
    'Gemini’s compatible door, a list',
    400,
    [{ error: { code: 400, message: 'Invalid value', status: 'INVALID_ARGUMENT' } }],
    'refused',
    { message: 'Invalid value' },
  ],
  [
    'a proxy’s page',
    502,
    '<html><body>Bad Gateway from 10.0.0.7</body></html>',
    'failed',
    { message: 'the provider answered 502' },
  ],
  ['overloaded', 529, '', 'failed', {}],
]

test.each(failures)('%s (%d)', (_, status, body, kind, expected) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const failure = openai.failure(status, new Headers(), text)
  expect(failure).toMatchObject({ kind, ...expected })
})

test('retry-after is read as seconds and as a date, and nothing else', () => {
  const after = (value: string) =>
    openai.failure(429, new Headers({ 'retry-after': value }), '').detail.retryAfterSeconds
  expect(after('61')).toBe(61)
  expect(after('0')).toBe(0)
  expect(after(new Date(Date.now() + 30_000).toUTCString())).toBeGreaterThan(20)
  for (const nonsense of ['soon', '-5', 'NaN', '']) expect(after(nonsense)).toBeUndefined()
})
