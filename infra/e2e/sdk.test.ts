import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { startUpstream, type Upstream } from '@tollgate/upstream'
import { generateText, jsonSchema, Output, streamText, type ToolSet, tool } from 'ai'
import OpenAI from 'openai'
import type { Gateway } from './client/gateway.ts'
import { topUp } from './client/pay.ts'
import { createKey, signIn } from './client/sign-in.ts'
import { balanceOf } from './client/spend.ts'
import { eventually, type RunningStack, stack } from './stack.ts'

const LIMITS = JSON.stringify({ chat: { count: 10_000 } })
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** A stream of four seconds, for callers who leave in its middle. */
const LONG = { tokens: 200, intervalMs: 20 }
const weatherSchema = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
}

let upstream: Upstream
let flaky: ReturnType<typeof flakyUpstream>
let unsteady: ReturnType<typeof flakyUpstream>
let running: RunningStack
let gateway: Gateway
let key: string
let poorKey: string
const folder = mkdtempSync(join(tmpdir(), 'tollgate-sdk-'))

/** Fails those requests, counted from 0, with a 500, as a provider in trouble gives. */
function flakyUpstream(target: string, fails: (n: number) => boolean) {
  let count = 0
  let served = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async request => {
      const failing = fails(count++)
      const init = { method: 'POST', headers: request.headers, body: await request.text() }
      const answer = await fetch(`${target}/chat/completions`, init)
      if (failing) return Response.json({ error: { message: 'try again' } }, { status: 500 })
      served++
      return answer
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    calls: () => count,
    served: () => served,
    stop: () => server.stop(true),
  }
}

beforeAll(async () => {
  upstream = startUpstream()
  flaky = flakyUpstream(upstream.url, n => n % 2 === 0)
  unsteady = flakyUpstream(upstream.url, n => [4, 7, 9].includes(n % 10))
  const model = (id: string, provider: string) => ({
    id,
    inMicro: 150_000,
    outMicro: 600_000,
    contextTokens: 128_000,
    maxOutputTokens: 16_384,
    mediaTokens: { image: 1_500 },
    routes: [{ provider, model: 'simulated' }],
  })
  const modelsFile = join(folder, 'models.json')
  writeFileSync(
    modelsFile,
    JSON.stringify({
      providers: {
        steady: { kind: 'openai', baseUrl: upstream.url },
        flaky: { kind: 'openai', baseUrl: flaky.url },
        unsteady: { kind: 'openai', baseUrl: unsteady.url },
      },
      models: [model('steady', 'steady'), model('flaky', 'flaky'), model('unsteady', 'unsteady')],
    }),
  )
  running = await stack({ env: { LIMITS, MODELS_FILE: modelsFile } })
  gateway = running.gateway
  const rich = await signIn(gateway)
  await topUp(gateway, rich, '20')
  key = (await createKey(gateway, rich.cookie)).key
  poorKey = (await createKey(gateway, (await signIn(gateway)).cookie)).key
}, 120_000)

afterAll(async () => {
  await running.audit()
  await running.stop()
  await upstream.stop()
  flaky.stop()
  unsteady.stop()
  rmSync(folder, { recursive: true, force: true })
}, 30_000)

/** Whatever a test did: nothing stays held, and only what was answered was charged. */
async function settled(): Promise<number> {
  const { creditsMicro } = await eventually(
    async () => {
      const balance = await balanceOf(gateway, key)
      return balance.heldMicro === 0 ? balance : null
    },
    { withinMs: 20_000 },
  )
  return creditsMicro
}

const failureOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => null,
    (error: unknown) => error,
  )

test('the official openai SDK', async () => {
  const client = new OpenAI({ baseURL: `${gateway.router}/v1`, apiKey: key })
  const messages = [{ role: 'user' as const, content: 'hi' }]

  const { data: plain, request_id } = await client.chat.completions
    .create({ model: 'steady', messages, max_tokens: 30 })
    .withResponse()
  expect(plain.choices[0]?.message.content?.length).toBeGreaterThan(0)
  expect(request_id).toMatch(/^req_/)

  const helper = client.chat.completions.stream({ model: 'steady', messages, max_tokens: 30 })
  const final = await helper.finalChatCompletion()
  expect(final.choices[0]?.finish_reason).toBe('length')

  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: weatherSchema } }]
  const called = await client.chat.completions.stream({ model: 'steady', messages, tools }).finalChatCompletion()
  const [call] = called.choices[0]?.message.tool_calls ?? []
  expect(call).toMatchObject({ type: 'function', function: { name: 'weather' } })
  expect(called.choices[0]?.finish_reason).toBe('tool_calls')

  const structured = await client.chat.completions.create({
    model: 'steady',
    messages,
    response_format: { type: 'json_schema', json_schema: { name: 'weather', schema: weatherSchema } },
  })
  expect(typeof JSON.parse(structured.choices[0]?.message.content ?? '').city).toBe('string')

  const seen = await client.chat.completions.create({
    model: 'steady',
    max_tokens: 20,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: PIXEL } },
        ],
      },
    ],
  })
  expect(seen.usage?.completion_tokens).toBeGreaterThan(0)

  const before = await settled()
  const stream = await client.chat.completions.create({
    model: 'steady',
    messages,
    stream: true,
    max_tokens: 2_000,
    ...{ sim: LONG },
  })
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
  expect(before - (await settled())).toBeGreaterThan(0)

  expect(await failureOf(client.chat.completions.create({ model: 'nope', messages }))).toBeInstanceOf(
    OpenAI.NotFoundError,
  )
  const poor = new OpenAI({ baseURL: `${gateway.router}/v1`, apiKey: poorKey })
  expect(await failureOf(poor.chat.completions.create({ model: 'steady', messages }))).toMatchObject({
    status: 402,
    code: 'insufficient_credits',
  })

  const beforeRetry = await settled()
  const retried = await client.chat.completions.create({ model: 'flaky', messages, max_tokens: 10 })
  const { cost_micro } = (retried as unknown as { usage_ext: { cost_micro: number } }).usage_ext
  expect(flaky.calls()).toBeGreaterThanOrEqual(2)
  expect(beforeRetry - (await settled())).toBe(cost_micro)
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['steady', 'flaky', 'unsteady'])
}, 60_000)

test('200 clients that each try again twice, while three of ten answers of the provider fail: who got an answer pays for it', async () => {
  const before = await settled()
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const client = new OpenAI({ baseURL: `${gateway.router}/v1`, apiKey: key, maxRetries: 2 })
      const asked = client.chat.completions.create({ model: 'unsteady', messages, max_tokens: 10 })
      return Promise.resolve(asked).catch((error: unknown) => error)
    }),
  )
  const answers = outcomes.filter(outcome => !(outcome instanceof Error))
  const failures = outcomes.filter(outcome => outcome instanceof Error)
  expect(failures.filter(error => !(error instanceof OpenAI.APIError && error.status === 502))).toEqual([])
  expect(answers.length).toBeGreaterThan(150)
  expect(unsteady.calls()).toBeGreaterThan(200)
  const charged = answers.reduce<number>(
    (sum, answer) => sum + (answer as { usage_ext: { cost_micro: number } }).usage_ext.cost_micro,
    0,
  )
  expect(before - (await settled())).toBe(charged)
  expect(unsteady.served()).toBe(answers.length)
}, 60_000)

test('the Vercel AI SDK', async () => {
  const provider = (apiKey: string) =>
    createOpenAICompatible({
      name: 'tollgate',
      baseURL: `${gateway.router}/v1`,
      apiKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })
  const model = provider(key)('steady')

  const plain = await generateText({ model, prompt: 'hi', maxOutputTokens: 20 })
  expect(plain.text.length).toBeGreaterThan(0)
  expect(plain.usage.outputTokens).toBe(20)

  const streamedText = streamText({ model, prompt: 'hi', maxOutputTokens: 20 })
  const pieces: string[] = []
  for await (const piece of streamedText.textStream) pieces.push(piece)
  expect(pieces.length).toBeGreaterThan(3)
  expect((await streamedText.usage).outputTokens).toBe(20)

  // The cast: the SDK's own types are not written for exactOptionalPropertyTypes.
  const tools = { weather: tool({ inputSchema: jsonSchema<{ city: string }>(weatherSchema) }) } as unknown as ToolSet
  const called = await generateText({ model, prompt: 'weather?', tools })
  expect(called.toolCalls[0]).toMatchObject({ toolName: 'weather', input: { city: expect.any(String) } })

  const structured = await generateText({
    model,
    prompt: 'weather?',
    output: Output.object({ schema: jsonSchema<{ city: string }>(weatherSchema) }),
  })
  expect(typeof structured.output.city).toBe('string')

  const seen = await generateText({
    model,
    maxOutputTokens: 10,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', image: PIXEL },
        ],
      },
    ],
  })
  expect(seen.text.length).toBeGreaterThan(0)

  const leaving = new AbortController()
  const before = await settled()
  const long = streamText({
    model,
    prompt: 'hi',
    maxOutputTokens: 2_000,
    abortSignal: leaving.signal,
    providerOptions: { tollgate: { sim: LONG } },
    onError: () => undefined,
  })
  for await (const piece of long.textStream) if (piece) break
  leaving.abort()
  expect(before - (await settled())).toBeGreaterThan(0)

  const refused = await failureOf(generateText({ model: provider(poorKey)('steady'), prompt: 'hi' }))
  expect(refused).toMatchObject({ statusCode: 402 })

  const beforeRetry = await settled()
  const retried = await generateText({ model: provider(key)('flaky'), prompt: 'hi', maxOutputTokens: 10 })
  expect(retried.usage.outputTokens).toBe(10)
  expect(beforeRetry - (await settled())).toBeGreaterThan(0)
}, 60_000)

test('LangChain JS', async () => {
  const chat = (apiKey: string, model = 'steady', extra: object = {}) =>
    new ChatOpenAI({
      model,
      apiKey,
      maxTokens: 20,
      maxRetries: 2,
      configuration: { baseURL: `${gateway.router}/v1` },
      ...extra,
    })

  const plain = await chat(key).invoke('hi')
  expect(String(plain.content).length).toBeGreaterThan(0)
  expect(outputTokens(plain)).toBe(20)

  const pieces = []
  for await (const piece of await chat(key).stream('hi')) pieces.push(piece)
  expect(pieces.length).toBeGreaterThan(3)

  const weather = langchainTool(async () => 'sunny', {
    name: 'weather',
    description: 'tells the weather',
    schema: weatherSchema,
  })
  const called = await chat(key).bindTools([weather]).invoke('weather?')
  expect(called.tool_calls?.[0]).toMatchObject({ name: 'weather' })

  const structured = await chat(key, 'steady', { maxTokens: 100 })
    .withStructuredOutput(weatherSchema, { method: 'jsonSchema', name: 'weather' })
    .invoke('weather?')
  expect(structured).toMatchObject({ city: expect.any(String) })

  const seen = await chat(key).invoke([
    new HumanMessage({
      content: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: PIXEL } },
      ],
    }),
  ])
  expect(String(seen.content).length).toBeGreaterThan(0)

  const before = await settled()
  const long = chat(key, 'steady', { maxTokens: 2_000, modelKwargs: { sim: LONG } })
  for await (const piece of await long.stream('hi')) if (piece.content) break
  expect(before - (await settled())).toBeGreaterThan(0)

  expect(await failureOf(chat(poorKey).invoke('hi'))).toMatchObject({ status: 402 })
  const beforeRetry = await settled()
  expect(outputTokens(await chat(key, 'flaky').invoke('hi'))).toBe(20)
  expect(beforeRetry - (await settled())).toBeGreaterThan(0)
}, 60_000)

function outputTokens(message: object): unknown {
  return 'usage_metadata' in message && (message.usage_metadata as { output_tokens: number }).output_tokens
}
