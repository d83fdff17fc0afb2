import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { generateText, streamText } from 'ai'
import OpenAI from 'openai'
import { isFields } from '../json.ts'
import { anthropic } from './anthropic/index.ts'
import * as claude from './anthropic/recorded.ts'
import { gemini } from './gemini/index.ts'
import * as google from './gemini/recorded.ts'
import type { Provider } from './provider.ts'
import { ask, streamed, targetOf } from './rig.ts'

/** Recorded answers of providers, as the clients of OpenAI read what we make of them. A model is its recording's name. */
const recordings: Readonly<Record<string, [Provider, stream: readonly unknown[], whole: unknown]>> = {
  'anthropic-text': [anthropic, claude.textStream, claude.textAnswer],
  'anthropic-tool': [anthropic, claude.toolStream, claude.toolAnswer],
  'anthropic-thinking': [anthropic, claude.thinkingStream, claude.thinkingAnswer],
  'gemini-text': [gemini, google.textStream, google.textAnswer],
  'gemini-tool': [gemini, google.toolStream, google.toolAnswer],
}
const [texts, tools] = [
  ['anthropic-text', 'gemini-text'],
  ['anthropic-tool', 'gemini-tool'],
]

let server: ReturnType<typeof Bun.serve>
let baseURL = ''

beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const asked: unknown = await request.json()
      const { model, stream } = isFields(asked) ? asked : {}
      const recording = recordings[String(model)]
      if (!recording) return new Response('no such recording', { status: 404 })
      const [provider, events, answer] = recording
      const target = targetOf(String(model))
      if (stream !== true) return Response.json(provider.answer(answer, target).body)
      const { chunks } = streamed(provider.reader(target, ask({ stream: true })), events)
      const lines = [...chunks.map(chunk => JSON.stringify(chunk)), '[DONE]'].map(data => `data: ${data}\n\n`)
      return new Response(lines.join(''), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  baseURL = `http://127.0.0.1:${server.port}/v1`
})
afterAll(() => server.stop(true))

const messages = [{ role: 'user' as const, content: 'hi' }]
const call = { name: 'weather', arguments: { location: 'San Francisco' } }

test.each(texts)('the openai SDK reads text: %s', async model => {
  const client = new OpenAI({ baseURL, apiKey: 'x', maxRetries: 0 })
  const whole = await client.chat.completions.create({ model, messages })
  expect(whole.choices[0]?.message.content).not.toBeEmpty()
  expect(whole.usage?.total_tokens).toBeGreaterThan(0)
  const final = await client.chat.completions.stream({ model, messages }).finalChatCompletion()
  expect(final.choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant' } })
  expect(final.choices[0]?.message.content).not.toBeEmpty()
})

test.each(tools)('the openai SDK reads calls: %s', async model => {
  const client = new OpenAI({ baseURL, apiKey: 'x', maxRetries: 0 })
  const whole = await client.chat.completions.create({ model, messages })
  const final = await client.chat.completions.stream({ model, messages }).finalChatCompletion()
  for (const { choices } of [whole, final]) {
    expect(choices[0]?.finish_reason).toBe('tool_calls')
    const made = choices[0]?.message.tool_calls?.[0]
    if (made?.type !== 'function') throw new Error('no function was called')
    expect({ name: made.function.name, arguments: JSON.parse(made.function.arguments) }).toEqual(call)
  }
})

test('the AI SDK reads text, reasoning and calls', async () => {
  const provider = createOpenAICompatible({ name: 'ours', baseURL, apiKey: 'x' })
  for (const model of texts) {
    expect((await generateText({ model: provider(model), prompt: 'hi', maxRetries: 0 })).text).not.toBeEmpty()
    const result = streamText({ model: provider(model), prompt: 'hi', maxRetries: 0 })
    expect(await result.text).not.toBeEmpty()
    expect(await result.finishReason).toBe('stop')
  }
  const thinking = streamText({ model: provider('anthropic-thinking'), prompt: 'hi', maxRetries: 0 })
  expect(await thinking.text).toBe('925 ÷ 5 = 185')
  expect(await thinking.reasoningText).toBe('The previous result was 925.')
  for (const model of tools) {
    const result = streamText({ model: provider(model), prompt: 'hi', maxRetries: 0 })
    expect(await result.finishReason).toBe('tool-calls')
    expect(await result.toolCalls).toMatchObject([{ toolName: 'weather', input: call.arguments }])
  }
})

test('LangChain reads text and calls', async () => {
  for (const model of [...texts, ...tools]) {
    const chat = new ChatOpenAI({ model, apiKey: 'x', configuration: { baseURL }, maxRetries: 0 })
    const whole = await chat.invoke([new HumanMessage('hi')])
    let streamed: Awaited<ReturnType<typeof chat.stream>> extends AsyncIterable<infer T> ? T | undefined : never
    for await (const chunk of await chat.stream([new HumanMessage('hi')])) streamed = streamed?.concat(chunk) ?? chunk
    for (const message of [whole, streamed]) {
      if (texts.includes(model)) expect(message?.text).not.toBeEmpty()
      else expect(message?.tool_calls).toMatchObject([{ name: 'weather', args: call.arguments }])
    }
  }
})
