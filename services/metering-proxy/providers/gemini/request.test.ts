import { expect, test } from 'bun:test'
import { ask, refusalOf, sent, targetOf } from '../rig.ts'
import { gemini } from './index.ts'

const schema = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false }
const weather = { type: 'function', function: { name: 'weather', description: 'Weather', parameters: schema } }
const said = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const call = (id: string, extra?: object) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"Paris"}' },
  ...extra,
})

test('a request names its model and method in the path, and the key in a header', () => {
  const target = targetOf('gemini-2.5-flash', 'https://api.example/v1beta')
  const whole = gemini.chat(target, ask({}), 7)
  expect(whole.url).toBe('https://api.example/v1beta/models/gemini-2.5-flash:generateContent')
  expect(whole.headers).toEqual({ 'content-type': 'application/json', 'x-goog-api-key': 'secret-key' })
  expect(JSON.parse(whole.body)).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { maxOutputTokens: 7 },
  })
  const stream = gemini.chat(target, ask({ stream: true }), 7)
  expect(stream.url).toBe('https://api.example/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse')
  expect(gemini.chat(targetOf('tunedModels/ours'), ask({}), 7).url).toContain('/v1/tunedModels/ours:generateContent')
})

test('system and developer messages are the instruction', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: 'Be kind.' },
    { role: 'user', content: 'a' },
    { role: 'user', content: 'b' },
  ]
  expect(sent(gemini, { messages })).toMatchObject({
    systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
    contents: [{ role: 'user', parts: [{ text: 'a' }, { text: 'b' }] }],
  })
})

test('results of tools carry the name of the tool that was called', () => {
  const messages = [
    { role: 'user', content: 'Paris?' },
    { role: 'assistant', content: 'Let me see.', tool_calls: [call('a')] },
    { role: 'tool', tool_call_id: 'a', content: 'rain' },
  ]
  expect(sent(gemini, { messages }, { model: 'gemini-2.5-flash' }).contents).toEqual([
    { role: 'user', parts: [{ text: 'Paris?' }] },
    {
      role: 'model',
      parts: [{ text: 'Let me see.' }, { functionCall: { id: 'a', name: 'weather', args: { city: 'Paris' } } }],
    },
    { role: 'user', parts: [{ functionResponse: { id: 'a', name: 'weather', response: { output: 'rain' } } }] },
  ])
})

test('the signature of a call comes back; where it is lost, the newest models are told to do without', () => {
  const signed = call('a', { extra_content: { google: { thought_signature: 'EqUC' } } })
  const signatures = (model: string, calls: object[]) => {
    const { contents } = sent(gemini, { messages: [{ role: 'assistant', tool_calls: calls }] }, { model })
    return JSON.stringify(contents).match(/"thoughtSignature":"[^"]*"/g)
  }
  expect(signatures('gemini-3-pro-preview', [signed, call('b')])).toEqual(['"thoughtSignature":"EqUC"'])
  expect(signatures('gemini-3-pro-preview', [call('a'), call('b')])).toEqual([
    '"thoughtSignature":"skip_thought_signature_validator"',
  ])
  expect(signatures('gemini-2.5-pro', [call('a')])).toBeNull()
})

test('images, audio and PDF files go as inline data', () => {
  const content = [
    { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,/9j/4AAQ' } },
    { type: 'input_audio', input_audio: { format: 'mp3', data: 'SUQz' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
  ]
  expect(sent(gemini, said(content)).contents).toEqual([
    {
      role: 'user',
      parts: [
        { inlineData: { mimeType: 'image/jpeg', data: '/9j/4AAQ' } },
        { inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } },
        { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
      ],
    },
  ])
})

test.each([
  [undefined, { mode: 'AUTO' }],
  ['auto', { mode: 'AUTO' }],
  ['none', { mode: 'NONE' }],
  ['required', { mode: 'ANY' }],
  [
    { type: 'function', function: { name: 'weather' } },
    { mode: 'ANY', allowedFunctionNames: ['weather'] },
  ],
])('tool_choice %j becomes %j', (choice, expected) => {
  expect(sent(gemini, { tools: [weather], tool_choice: choice })).toMatchObject({
    tools: [{ functionDeclarations: [{ name: 'weather', description: 'Weather', parametersJsonSchema: schema }] }],
    toolConfig: { functionCallingConfig: expected },
  })
})

test('what Gemini has a field for is in its configuration', () => {
  const body = {
    n: 2,
    temperature: 1.4,
    top_p: 0.9,
    seed: 7,
    stop: ['a', 'b'],
    presence_penalty: 0.5,
    frequency_penalty: null,
  }
  expect(sent(gemini, body).generationConfig).toEqual({
    maxOutputTokens: 2_000,
    candidateCount: 2,
    temperature: 1.4,
    topP: 0.9,
    seed: 7,
    stopSequences: ['a', 'b'],
    presencePenalty: 0.5,
  })
})

test('JSON is asked for with a schema or without', () => {
  expect(sent(gemini, { response_format: { type: 'json_object' } }).generationConfig).toMatchObject({
    responseMimeType: 'application/json',
  })
  const format = { type: 'json_schema', json_schema: { name: 'x', schema } }
  expect(sent(gemini, { response_format: format }).generationConfig).toMatchObject({
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
  })
})

test.each([
  ['gemini-3-pro-preview', 'medium', { thinkingLevel: 'medium', includeThoughts: true }],
  ['gemini-3.1-flash', 'none', { thinkingLevel: 'minimal', includeThoughts: false }],
  ['gemini-flash-latest', 'xhigh', { thinkingLevel: 'high', includeThoughts: true }],
  ['gemini-2.5-flash', 'low', { thinkingBudget: 1_024, includeThoughts: true }],
  ['gemini-2.5-flash', 'none', { thinkingBudget: 0, includeThoughts: false }],
])('%s with reasoning_effort %s thinks as it can', (model, effort, expected) => {
  expect(sent(gemini, { reasoning_effort: effort }, { model }).generationConfig).toMatchObject({
    thinkingConfig: expected,
  })
})

test('what Gemini has no field for is dropped', () => {
  const body = sent(gemini, {
    user: 'u',
    metadata: { a: 'b' },
    store: true,
    safety_settings: [],
  })
  expect(Object.keys(body).sort()).toEqual(['contents', 'generationConfig'])
})

test.each([
  ['one call at a time', { tools: [weather], parallel_tool_calls: false }],
  ['log probabilities', { logprobs: true, top_logprobs: 2 }],
  ['token biases', { logit_bias: { 50256: -100 } }],
  ['an image by its URL', said([{ type: 'image_url', image_url: { url: 'https://pictures.example/cat.jpg' } }])],
  ['a file of the operator', said([{ type: 'image_url', image_url: { url: 'gs://bucket/cat.jpg' } }])],
  ['audio of another format', said([{ type: 'input_audio', input_audio: { format: 'flac', data: 'AAAA' } }])],
  ['a result of an unknown call', { messages: [{ role: 'tool', tool_call_id: 'x', content: '1' }] }],
])('%s is refused before anything is sent', (_what, body) => {
  expect(refusalOf(gemini, body)).not.toBe('')
})
