import { expect, test } from 'bun:test'
import { ask, refusalOf, sent, targetOf } from '../rig.ts'
import { anthropic } from './index.ts'

const weather = {
  type: 'function',
  function: { name: 'weather', description: 'Weather', parameters: { type: 'object', properties: {} }, strict: true },
}
const said = (content: unknown) => ({ messages: [{ role: 'user', content }] })

test('a request goes to the Messages API with our key, its version and the limit that was held', () => {
  const request = anthropic.chat(targetOf('claude-haiku-4-5', 'https://api.example/v1'), ask({ max_tokens: 9 }), 7)
  expect(request.url).toBe('https://api.example/v1/messages')
  expect(request.headers).toEqual({
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'x-api-key': 'secret-key',
  })
  expect(JSON.parse(request.body)).toEqual({
    model: 'claude-haiku-4-5',
    max_tokens: 7,
    stream: false,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  })
})

test('system and developer messages are instructions, wherever they stand', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'a' },
    { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
    { role: 'user', content: 'b' },
  ]
  expect(sent(anthropic, { messages })).toMatchObject({
    system: [
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'Be kind.' },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ],
  })
})

test('calls of tools and their results alternate, with ids that Anthropic takes', () => {
  const call = (id: string, args: string) => ({ id, type: 'function', function: { name: 'weather', arguments: args } })
  const messages = [
    { role: 'user', content: 'Paris and Rome?' },
    { role: 'assistant', content: null, tool_calls: [call('functions.weather:0', '{"city":"Paris"}'), call('b', '')] },
    { role: 'tool', tool_call_id: 'functions.weather:0', content: 'rain' },
    { role: 'tool', tool_call_id: 'b', content: '' },
    { role: 'user', content: 'And?' },
  ]
  expect(sent(anthropic, { messages }).messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Paris and Rome?' }] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'functions_weather_0', name: 'weather', input: { city: 'Paris' } },
        { type: 'tool_use', id: 'b', name: 'weather', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'functions_weather_0', content: [{ type: 'text', text: 'rain' }] },
        { type: 'tool_result', tool_use_id: 'b' },
        { type: 'text', text: 'And?' },
      ],
    },
  ])
})

test('images go as data or by their URL, and a PDF as a document', () => {
  const content = [
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0K', detail: 'low' } },
    { type: 'image_url', image_url: { url: 'https://pictures.example/cat.jpg' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
    { type: 'text', text: '' },
  ]
  expect(sent(anthropic, said(content)).messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0K' } },
        { type: 'image', source: { type: 'url', url: 'https://pictures.example/cat.jpg' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
      ],
    },
  ])
})

test.each([
  [undefined, { type: 'auto' }],
  ['auto', { type: 'auto' }],
  ['none', { type: 'none' }],
  ['required', { type: 'any' }],
  [
    { type: 'function', function: { name: 'weather' } },
    { type: 'tool', name: 'weather' },
  ],
])('tool_choice %j becomes %j', (choice, expected) => {
  expect(sent(anthropic, { tools: [weather], tool_choice: choice })).toMatchObject({
    tools: [{ name: 'weather', description: 'Weather', input_schema: { type: 'object', properties: {} } }],
    tool_choice: expected,
  })
})

test('one call at a time can be asked for', () => {
  const single = { tools: [weather], parallel_tool_calls: false }
  expect(sent(anthropic, single).tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true })
  expect(sent(anthropic, { parallel_tool_calls: false }).tool_choice).toBeUndefined()
})

test('sampling, stop sequences and a JSON schema have fields of their own', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
  const body = sent(anthropic, {
    temperature: 1.4,
    top_p: 0.9,
    stop: 'END',
    response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } },
  })
  expect(body).toMatchObject({ temperature: 1, top_p: 0.9, stop_sequences: ['END'] })
  expect(body.output_config).toEqual({ format: { type: 'json_schema', schema } })
})

test.each([
  [
    'claude-opus-5',
    'high',
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
  ],
  [
    'claude-sonnet-4-6',
    'minimal',
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
  ],
  ['claude-opus-4-6', 'none', { thinking: { type: 'disabled' } }],
  ['claude-sonnet-4-5-20250929', 'medium', { thinking: { type: 'enabled', budget_tokens: 5_000 } }],
  ['claude-sonnet-4-20250514', 'low', { thinking: { type: 'enabled', budget_tokens: 2_000 } }],
  ['claude-haiku-4-5', 'none', {}],
])('%s with reasoning_effort %s thinks as it can', (model, effort, expected) => {
  const { thinking, output_config } = sent(anthropic, { reasoning_effort: effort }, { model, limit: 10_000 })
  expect(Object.fromEntries(Object.entries({ thinking, output_config }).filter(([, value]) => value))).toEqual(expected)
})

test('a budget fits into the limit, or there is no thinking', () => {
  const model = 'claude-haiku-4-5'
  expect(sent(anthropic, { reasoning_effort: 'high' }, { model, limit: 1_024 }).thinking).toBeUndefined()
  expect(sent(anthropic, { reasoning_effort: 'low' }, { model, limit: 1_025 }).thinking).toMatchObject({
    budget_tokens: 1_024,
  })
})

test('inside of a tool loop a model with a budget goes on without thinking, which it could not take up', () => {
  const messages = [
    { role: 'user', content: 'Paris?' },
    { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'a', content: 'rain' },
  ]
  expect(
    sent(anthropic, { messages, reasoning_effort: 'high' }, { model: 'claude-haiku-4-5' }).thinking,
  ).toBeUndefined()
  expect(sent(anthropic, { messages, reasoning_effort: 'high' }, { model: 'claude-opus-5' }).thinking).toBeDefined()
})

test('what Anthropic has no field for is dropped', () => {
  const body = sent(anthropic, {
    seed: 1,
    user: 'u',
    metadata: { a: 'b' },
    presence_penalty: 1,
    store: true,
    logprobs: false,
    whatever: 1,
  })
  expect(Object.keys(body).sort()).toEqual(['max_tokens', 'messages', 'model', 'stream'])
})

test('cache_control is not passed on: a cache write has a price that the catalogue may not list', () => {
  const content = [{ type: 'text', text: 'long', cache_control: { type: 'ephemeral', ttl: '1h' } }]
  expect(JSON.stringify(sent(anthropic, said(content)))).not.toContain('cache_control')
})

test.each([
  ['more than one choice', { n: 2 }],
  ['log probabilities', { logprobs: true }],
  ['token biases', { logit_bias: { 50256: -100 } }],
  ['functions of the old form', { functions: [{ name: 'f' }] }],
  ['tools that are no functions', { tools: [{ type: 'custom', custom: { name: 'c' } }] }],
  ['an unknown tool_choice', { tools: [weather], tool_choice: { type: 'allowed_tools' } }],
  ['JSON without a schema', { response_format: { type: 'json_object' } }],
  ['a schema that is none', { response_format: { type: 'json_schema', json_schema: { name: 'x' } } }],
  ['an unknown effort', { reasoning_effort: 'extreme' }],
  ['a stop that is no text', { stop: [1] }],
  ['audio', said([{ type: 'input_audio', input_audio: { format: 'wav', data: 'UklGRg==' } }])],
  ['a file by its id', said([{ type: 'file', file: { file_id: 'file-1' } }])],
  ['a data URL that is no base64', said([{ type: 'image_url', image_url: { url: 'data:image/svg+xml,<svg/>' } }])],
  [
    'an image as an instruction',
    { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: 'https://a.example' }] }] },
  ],
  ['an unknown role', { messages: [{ role: 'function', name: 'f', content: '1' }] }],
  ['a result of no call', { messages: [{ role: 'tool', content: '1' }] }],
  [
    'arguments that are no JSON',
    { messages: [{ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{' } }] }] },
  ],
])('%s is refused before anything is sent', (_what, body) => {
  expect(refusalOf(anthropic, body)).not.toBe('')
})
