import { afterAll, expect, test } from 'bun:test'
import { eventually } from '@tollgate/process'
import { connectionFaults, HONEST_USAGE, startRaw, startUpstream, streamFaults, streams } from './index.ts'

const upstream = startUpstream({ tokens: 5 })
afterAll(() => upstream.stop())
const messages = [{ role: 'user', content: 'tell' }]

async function post(body: object, headers: Record<string, string> = {}, url = upstream.url) {
  return fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'm', messages, ...body }),
  })
}
type Choice = {
  message: { content: string; tool_calls: { function: { name: string; arguments: string } }[] }
  finish_reason: string
}
type Body = { choices: Choice[]; usage: Record<string, number> }
const json = async (body: object, headers?: Record<string, string>) =>
  (await (await post(body, headers)).json()) as Body

test('an answer has the tokens that were asked for, and the usage says so', async () => {
  const { choices, usage } = await json({ n: 2 })
  expect(choices.map(choice => [choice.message.content, choice.finish_reason])).toEqual(
    Array(2).fill(['The river keeps its own ', 'stop']),
  )
  expect(usage).toEqual({ prompt_tokens: 7, completion_tokens: 10, total_tokens: 17 })
  expect((await json({}, { 'x-sim-tokens': '2' })).usage.completion_tokens).toBe(2)
  expect((await json({ sim: { tokens: 3 } })).usage.completion_tokens).toBe(3)
  expect((await json({ model: 'm?tokens=4' })).usage.completion_tokens).toBe(4)
})

test('limits and stop sequences end an answer', async () => {
  expect((await json({ max_tokens: 2 })).choices[0]).toMatchObject({
    message: { content: 'The river ' },
    finish_reason: 'length',
  })
  expect((await json({ max_completion_tokens: 5 })).choices[0]?.finish_reason).toBe('stop')
  expect((await json({ stop: ['keeps'] })).choices[0]).toMatchObject({
    message: { content: 'The river ' },
    finish_reason: 'stop',
  })
})

test('tools are called and structured output is structured', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const tools = [{ type: 'function', function: { name: 'weather', parameters } }]
  const called = (await json({ tools })).choices[0]
  expect(called?.finish_reason).toBe('tool_calls')
  expect(called?.message.tool_calls[0]?.function).toEqual({ name: 'weather', arguments: '{"city":"river"}' })
  const format = { type: 'json_schema', json_schema: { schema: parameters } }
  expect((await json({ response_format: format })).choices[0]?.message.content).toBe('{"city":"river"}')
})

test('a stream has a role, pieces, a finish, usage only when asked, and [DONE]', async () => {
  const plain = await (await post({ stream: true })).text()
  const events = plain.trim().split('\n\n')
  expect(events).toHaveLength(8)
  expect(events.at(-1)).toBe('data: [DONE]')
  expect(plain).not.toContain('usage')
  const counted = await (await post({ stream: true, stream_options: { include_usage: true } })).text()
  expect(counted.match(/"usage":null/g)).toHaveLength(7)
  expect(counted).toContain('"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}')
})

test('a paced stream takes its time', async () => {
  const start = performance.now()
  await (await post({ stream: true, sim: { intervalMs: 10 } })).text()
  expect(performance.now() - start).toBeGreaterThan(60)
})

test('hostile providers do what their names say', async () => {
  const ask = async (behaviour: Parameters<typeof startRaw>[0]) => {
    await using raw = await startRaw(behaviour)
    return await (await post({ stream: true }, {}, raw.url)).text()
  }
  expect(await ask(streams())).toContain(JSON.stringify(HONEST_USAGE))
  expect(await ask(streamFaults['splits UTF-8'])).toContain('🦀')
  expect((await ask(streamFaults['sends a 10 MB event'])).length).toBeGreaterThan(10_000_000)
  await expect(ask(connectionFaults['resets before headers'])).rejects.toThrow()
  await expect(ask(streamFaults['resets after words'])).rejects.toThrow()
  await expect(ask(streamFaults['is cut after words'])).rejects.toThrow()
})

test('an endless stream ends with its reader', async () => {
  await using raw = await startRaw(streamFaults['never ends'])
  const response = await post({ stream: true }, {}, raw.url)
  await response.body?.getReader().cancel()
  await eventually(() => raw.openSockets === 0)
})
