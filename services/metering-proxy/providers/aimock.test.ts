import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { LLMock } from '@copilotkit/aimock'
import { type Fields, isFields } from '../json.ts'
import { eventDecoder } from '../sse.ts'
import { anthropic } from './anthropic/index.ts'
import { gemini } from './gemini/index.ts'
import type { Provider, UpstreamRequest } from './provider.ts'
import { ask, assembled, streamed, targetOf } from './rig.ts'

/** A provider that no one here wrote, in the languages of all of them. */
const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 4 })

beforeAll(() => mock.start())
afterEach(() => {
  mock.clearFixtures()
  mock.clearRequests()
})
afterAll(() => mock.stop())

const kinds: [Provider, string, string][] = [
  [anthropic, 'claude-sonnet-4-5', '/v1'],
  [gemini, 'gemini-2.5-flash', '/v1beta'],
]
const usage = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 }
const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }

function post({ url, headers, body }: UpstreamRequest): Promise<Response> {
  return fetch(url, { method: 'POST', headers, body })
}

async function whole(provider: Provider, model: string, path: string, body: Fields) {
  const target = targetOf(model, `${mock.url}${path}`)
  const response = await post(provider.chat(target, ask(body), 100))
  expect(response.status).toBe(200)
  return provider.answer(await response.json(), target)
}

async function stream(provider: Provider, model: string, path: string, body: Fields) {
  const target = targetOf(model, `${mock.url}${path}`)
  const chat = ask({ ...body, stream: true })
  const response = await post(provider.chat(target, chat, 100))
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const decoder = eventDecoder()
  const events = [...decoder.push(await response.bytes()), ...decoder.end()]
  return streamed(
    provider.reader(target, chat),
    events.map(({ data }) => JSON.parse(data)),
  )
}

function listIn(value: unknown, name: string): unknown[] {
  const list = isFields(value) ? value[name] : null
  return Array.isArray(list) ? list : []
}

test.each(kinds)('%# text comes back, whole and streamed, with its usage', async (provider, model, path) => {
  mock.onMessage('hi', { content: 'Grüß dich, Welt! 👋', reasoning: 'They greet me.', usage })
  const answer = await whole(provider, model, path, {})
  expect(answer.body.choices).toMatchObject([
    { message: { content: 'Grüß dich, Welt! 👋', reasoning_content: 'They greet me.' }, finish_reason: 'stop' },
  ])
  expect(answer.reported?.usage).toMatchObject({ promptTokens: 20, completionTokens: 7 })

  const { chunks, reports, state } = await stream(provider, model, path, {})
  expect(assembled(chunks)).toEqual({
    text: 'Grüß dich, Welt! 👋',
    reasoning: 'They greet me.',
    calls: [],
    finish: 'stop',
  })
  expect(reports.at(-1)?.usage).toMatchObject({ promptTokens: 20, completionTokens: 7 })
  expect(state).not.toBe('open')
})

test.each(kinds)('%# calls come back, whole and streamed', async (provider, model, path) => {
  mock.onMessage('weather?', {
    toolCalls: [
      { id: 'call_a', name: 'weather', arguments: '{"city":"Paris"}' },
      { id: 'call_b', name: 'weather', arguments: '{}' },
    ],
    usage,
  })
  const body = { messages: [{ role: 'user', content: 'weather?' }], tools: [weather], tool_choice: 'required' }
  const calls = [
    { id: 'call_a', name: 'weather', arguments: '{"city":"Paris"}' },
    { id: 'call_b', name: 'weather', arguments: '{}' },
  ]
  const answer = await whole(provider, model, path, body)
  expect(answer.body.choices).toMatchObject([
    {
      message: { tool_calls: calls.map(({ id, ...named }) => ({ id, type: 'function', function: named })) },
      finish_reason: 'tool_calls',
    },
  ])
  expect(assembled((await stream(provider, model, path, body)).chunks)).toMatchObject({ calls, finish: 'tool_calls' })
})

test.each(kinds)('%# a conversation with tools arrives as it was sent', async (provider, model, path) => {
  mock.onMessage(/.*/, { content: 'ok' })
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Paris?' },
    {
      role: 'assistant',
      content: 'Let me see.',
      tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_a', content: 'rain' },
  ]
  await whole(provider, model, path, { messages, tools: [weather], temperature: 0.5 })
  const heard = mock.getLastRequest()?.body
  expect(heard).toMatchObject({ model, max_tokens: 100, temperature: 0.5, tools: [{ function: { name: 'weather' } }] })
  const [result, ...rest] = listIn(heard, 'messages').toReversed()
  expect(rest.toReversed()).toMatchObject(messages.slice(0, 3))
  expect(result).toMatchObject({ role: 'tool', tool_call_id: 'call_a', content: expect.stringContaining('rain') })
})

test.each(kinds)('%# an error is told from an answer', async (provider, model, path) => {
  mock.nextRequestError(429, { message: 'slow down', type: 'rate_limit_error' })
  const response = await post(provider.chat(targetOf(model, `${mock.url}${path}`), ask({}), 100))
  expect(provider.failure(response.status, response.headers, await response.text())).toMatchObject({
    kind: 'limited',
    message: 'slow down',
    detail: { status: 429 },
  })
})
