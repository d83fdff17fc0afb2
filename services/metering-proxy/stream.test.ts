import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  type Behaviour,
  chunkEvent,
  dataEvent,
  type RawUpstream,
  startRaw,
  streams,
  streamsText,
} from '@tollgate/upstream'
import { type Caller, dataOf, type Rig, startRig } from './test/rig.ts'

const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 }
const choice = (index: number, delta: object, finish_reason: string | null = null) => ({ index, delta, finish_reason })
const event = (fields: object) => dataEvent({ ...head, ...fields })

/** As OpenAI streams, recorded in envoyproxy/ai-gateway's cassettes: `usage: null` on each, padding, refusal, a usage chunk. */
const OPENAI = [
  event({ choices: [choice(0, { role: 'assistant', content: '', refusal: null })], usage: null, obfuscation: 'ab' }),
  event({ choices: [choice(0, { content: 'Grüße "usage":null' })], usage: null, obfuscation: 'abc' }),
  event({ choices: [choice(0, {}, 'stop')], usage: null, obfuscation: 'a' }),
  event({ choices: [], usage, obfuscation: 'abcd' }),
  'data: [DONE]\n\n',
]
const behaviours: Record<string, Behaviour> = {
  openai: streamsText(OPENAI.join('')),
  'in one-byte pieces': streamsText(OPENAI.join(''), { pieceBytes: 1 }),
  'usage in the finish chunk': streamsText(
    `${event({ choices: [choice(0, { content: 'a' })] })}${event({ choices: [choice(0, {}, 'stop')], usage })}data: [DONE]\n\n`,
  ),
  'usage on every chunk': streamsText(
    `${event({ choices: [choice(0, { content: 'a' })], usage: { prompt_tokens: 10, completion_tokens: 1 } })}${event({ choices: [choice(0, {}, 'stop')], usage })}data: [DONE]\n\n`,
  ),
  'usage in x_groq': streamsText(
    `${event({ choices: [choice(0, { content: 'a' })] })}${event({ choices: [choice(0, {}, 'stop')], x_groq: { id: 'x', usage } })}data: [DONE]\n\n`,
  ),
  'two choices': streamsText(
    `${event({ choices: [choice(0, { content: 'a' })] })}${event({ choices: [choice(1, { content: 'b' })] })}${event({ choices: [choice(0, {}, 'stop')] })}${event({ choices: [choice(1, { content: 'c' })] })}${event({ choices: [choice(1, {}, 'length')] })}${event({ choices: [], usage })}data: [DONE]\n\n`,
  ),
  'no finish': streams({ finish: false }),
  'no usage': streams({ usages: [] }),
  'usage of the prompt only': streams({ usages: [{ prompt_tokens: 10, completion_tokens: 0 }] }),
  'usage of the output only': streams({ usages: [{ prompt_tokens: 0, completion_tokens: 3 }] }),
  'usage without choices': streamsText(
    `${chunkEvent('a')}${chunkEvent(null, 'stop')}${dataEvent({ usage })}data: [DONE]\n\n`,
  ),
  'breaking after a first report': streamsText(
    `${event({ choices: [choice(0, { content: 'a' })], usage: { prompt_tokens: 10, completion_tokens: 1 } })}${event({ choices: [choice(0, { content: ' b c d e' })] })}`,
    { end: 'hang' },
  ),
  silent: async wire => {
    await streams({ words: ['a'], usages: [], finish: false, done: false, end: 'hang' })(wire)
    await Bun.sleep(1_000)
    const rest = `${chunkEvent(null, 'stop')}data: [DONE]\n\n`
    await wire.write(`${rest.length.toString(16)}\r\n${rest}\r\n0\r\n\r\n`)
    wire.end()
  },
}

let raw: RawUpstream
let rig: Rig
let caller: Caller
beforeAll(async () => {
  raw = await startRaw(wire => behaviours[String(JSON.parse(wire.body).model)]?.(wire))
  const entry = { mediaTokens: { image: 500 } }
  rig = await startRig(Object.fromEntries(Object.keys(behaviours).map(id => [id, { urls: [raw.url], entry }])), {
    PING_MS: '200',
    IDLE_MS: '1500',
    LOG_LEVEL: 'error',
  })
  caller = await rig.account(10_000_000n)
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await raw?.stop()
})

async function streamOf(model: string, body: object = {}): Promise<string> {
  const response = await rig.chat(caller, { model, stream: true, max_tokens: 100, ...body })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-cache')
  return response.text()
}
const asked = { stream_options: { include_usage: true } }

test.each(['openai', 'in one-byte pieces'])(
  '%s: chunks pass byte for byte, but for the usage that the caller did not ask for',
  async model => {
    expect(await streamOf(model)).toBe(
      [
        event({ choices: [choice(0, { role: 'assistant', content: '', refusal: null })], obfuscation: 'ab' }),
        event({ choices: [choice(0, { content: 'Grüße "usage":null' })], obfuscation: 'abc' }),
        event({ choices: [choice(0, {}, 'stop')], obfuscation: 'a', usage_ext: { cost_micro: 16 } }),
        'data: [DONE]\n\n',
      ].join(''),
    )
  },
)

test.each(['openai', 'usage in the finish chunk', 'usage on every chunk', 'usage in x_groq', 'usage without choices'])(
  '%s: the usage is in one last chunk of its own when asked for, with the charge',
  async model => {
    const data = dataOf(await streamOf(model, asked))
    expect(data.at(-1)).toBe('[DONE]')
    expect(JSON.parse(data.at(-2) ?? '')).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [],
      usage,
      usage_ext: { cost_micro: 16 },
    })
    const others = data.slice(0, -2).map(json => JSON.parse(json))
    expect(others.filter(chunk => chunk.usage || chunk.usage_ext)).toEqual([])
    expect(others.at(-1).choices[0].finish_reason).toBe('stop')
  },
)

test.each(['usage in the finish chunk', 'usage on every chunk', 'usage in x_groq', 'usage without choices'])(
  '%s: without asking there is no usage, and the finish chunk carries the charge',
  async model => {
    const chunks = dataOf(await streamOf(model))
      .slice(0, -1)
      .map(json => JSON.parse(json))
    expect(chunks.filter(chunk => 'usage' in chunk)).toEqual([])
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }], usage_ext: { cost_micro: 16 } })
    expect(chunks.every(chunk => Array.isArray(chunk.choices))).toBe(true)
  },
)

test('of several choices each ends, and the last chunk carries the charge', async () => {
  const chunks = dataOf(await streamOf('two choices', { n: 2 }))
    .slice(0, -1)
    .map(json => JSON.parse(json))
  expect(chunks.map(chunk => [chunk.choices[0].index, chunk.choices[0].finish_reason])).toEqual([
    [0, null],
    [1, null],
    [0, 'stop'],
    [1, null],
    [1, 'length'],
  ])
  expect(chunks.map(chunk => chunk.usage_ext)).toEqual([undefined, undefined, undefined, undefined, { cost_micro: 16 }])
})

test('a stream without a finish chunk gets a last chunk for the charge', async () => {
  const data = dataOf(await streamOf('no finish'))
  expect(JSON.parse(data.at(-2) ?? '')).toMatchObject({
    id: 'chatcmpl-hostile',
    choices: [],
    usage_ext: { cost_micro: 16 },
  })
  expect(data.at(-1)).toBe('[DONE]')
})

test.each(['no usage', 'usage of the prompt only', 'usage of the output only'])(
  '%s: it is counted, marked, and shown when asked for',
  async model => {
    const chunk = JSON.parse(dataOf(await streamOf(model, asked)).at(-2) ?? '')
    // "One two three"; and "Tell" and its end, 3 around the message and 3 before the answer.
    expect(chunk.usage).toEqual({ prompt_tokens: 8, completion_tokens: 3, total_tokens: 11 })
    expect(chunk.usage_ext).toEqual({ cost_micro: 8 + 2 * 3, estimated: true })
  },
)

test('a counted prompt has all that the model reads in it, and a medium by the item', async () => {
  const words = 'word '.repeat(1_000)
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: JSON.stringify({ words }) } }
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(50_000)}` } }
  const messages = [
    { role: 'user', content: ['Tell.', image] },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: 'Told.' },
  ]
  const response_format = { type: 'json_schema', json_schema: { name: 'n', schema: { description: words } } }
  const chunk = JSON.parse(dataOf(await streamOf('no usage', { ...asked, messages, response_format })).at(-2) ?? '')
  // Twice a thousand words, an image of 500, and what is around them.
  expect(chunk.usage.prompt_tokens).toBeGreaterThan(2_500)
  expect(chunk.usage.prompt_tokens).toBeLessThan(2_650)
})

test('of a stream that breaks, what was said counts where more was said than reported', async () => {
  const last = JSON.parse(dataOf(await streamOf('breaking after a first report')).at(-1) ?? '')
  expect(last.error.code).toBe('upstream_error')
  // Ten prompt tokens as reported; "a b c d e" is five.
  expect(last.usage_ext).toEqual({ cost_micro: 10 + 2 * 5, estimated: true })
})

test('silence gets comments, which are no data', async () => {
  const text = await streamOf('silent')
  expect(text.match(/: ping\n\n/g)?.length).toBeGreaterThanOrEqual(3)
  expect(dataOf(text)).toHaveLength(3)
})
