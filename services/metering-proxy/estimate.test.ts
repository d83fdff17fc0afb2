import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { type Model, readCatalogue } from './catalogue.ts'
import { type ChatRequest, readChat } from './chat.ts'
import { bytesBound, grantedLimit, worstCase } from './estimate.ts'
import { isFields, parseBody } from './json.ts'
import { costMicro } from './price.ts'

const provider = { baseUrl: 'http://127.0.0.1:1/v1' }
function model(entry: object, byteMultiplier?: number, kind = 'openai'): Model {
  const catalogue = readCatalogue(
    {
      providers: { p: { ...provider, kind, ...(byteMultiplier && { byteMultiplier }) } },
      models: [
        {
          id: 'm',
          inMicro: 150_000,
          outMicro: 600_000,
          contextTokens: 128_000,
          maxOutputTokens: 16_384,
          routes: [{ provider: 'p', model: 'm' }],
          ...entry,
        },
      ],
    },
    () => undefined,
  )
  const found = catalogue.get('m')
  if (!found) throw new Error('no model')
  return found
}
const chat = (body: object): ChatRequest =>
  readChat(parseBody(Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }))))

// Text of all scripts, characters that normalization makes longer (U+1D160, U+0344, U+0958), specials, escapes and long words.
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 100 }),
  fc
    .array(fc.constantFrom('\u{1D160}', '\u0344', '\u0958', '\uFDFA', '<|endoftext|>', '"\\\n', '河', 'word ', 'a'), {
      maxLength: 60,
    })
    .map(parts => parts.join('')),
)
const content = fc.oneof(text, fc.array(fc.record({ type: fc.constant('text'), text }), { maxLength: 4 }))
const message = fc.record({
  role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool'),
  content,
  name: fc.option(text, { nil: undefined }),
})
const schema = fc.dictionary(
  fc.string({ maxLength: 8 }),
  fc.record({ type: fc.constantFrom('string', 'number'), description: text }),
  { maxKeys: 6 },
)
const tool = fc.record({
  type: fc.constant('function'),
  function: fc.record({
    name: fc.constant('call'),
    description: text,
    parameters: fc.record({ type: fc.constant('object'), properties: schema }),
  }),
})
const request = fc.record({
  messages: fc.array(message, { minLength: 1, maxLength: 8 }),
  tools: fc.option(fc.array(tool, { maxLength: 4 }), { nil: undefined }),
  n: fc.option(fc.integer({ min: 1, max: 128 }), { nil: undefined }),
  max_tokens: fc.option(fc.integer({ min: 1, max: 50_000 }), { nil: undefined }),
  prediction: fc.option(fc.record({ type: fc.constant('content'), content: text }), { nil: undefined }),
})
const prices = fc.record({
  inMicro: fc.integer({ min: 0, max: 100_000_000 }),
  outMicro: fc.integer({ min: 0, max: 100_000_000 }),
  cachedInMicro: fc.option(fc.integer({ min: 0, max: 100_000_000 }), { nil: undefined }),
  cacheWriteMicro: fc.option(fc.integer({ min: 0, max: 100_000_000 }), { nil: undefined }),
})
const entry = fc
  .record({
    prices,
    contextTokens: fc.integer({ min: 1_000, max: 200_000 }),
    maxOutputTokens: fc.integer({ min: 1, max: 1_000 }),
  })
  .map(({ prices, ...sizes }) => ({ ...sizes, ...JSON.parse(JSON.stringify(prices)) }))

/** Every text of a request, in any place. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(texts)
  return isFields(value) ? Object.entries(value).flatMap(([name, part]) => [name, ...texts(part)]) : []
}

/** The most that a provider can count: each text by a byte-level tokenizer after NFC, and a template around each message. */
function providerPrompt({ body }: ChatRequest, count: (text: string) => number): number {
  const messages = Array.isArray(body.messages) ? body.messages.length : 0
  const read = [body.messages, body.tools, body.prediction].flatMap(texts)
  return read.reduce((sum, part) => sum + count(part), 40 + 10 * messages)
}
const specials = { disallowedSpecial: new Set<string>() }
const counters = {
  o200k: (part: string) => countTokens(part, specials),
  'a token per byte after NFC': (part: string) => Buffer.byteLength(part.normalize('NFC')),
}

for (const [name, count] of Object.entries(counters)) {
  test(`whatever a provider reports within its limits, the formula stays within the hold (${name})`, () => {
    fc.assert(
      fc.property(
        request,
        entry,
        fc.array(fc.nat(1_000_000), { minLength: 4, maxLength: 4 }),
        (body, entry, random) => {
          const asked = chat(body)
          const used = model(entry)
          const worst = worstCase(asked, used)
          const part = (most: number, at: number) => Math.floor((most * (random[at] ?? 0)) / 1_000_000)
          const promptTokens = part(Math.min(used.contextTokens, providerPrompt(asked, count)), 0)
          const cachedTokens = part(promptTokens, 1)
          const cacheWriteTokens = part(promptTokens - cachedTokens, 2)
          // Between the least and the most that may be granted, the limit that is sent is paid for.
          const granted = worst.minMicro + ((worst.maxMicro - worst.minMicro) * BigInt(random[3] ?? 0)) / 1_000_000n
          const limit = grantedLimit(worst, granted, used)
          const predicted = asked.body.prediction ? Buffer.byteLength(texts(asked.body.prediction).join('')) : 0
          const completionTokens = asked.choices * limit + predicted
          const usage = { promptTokens, cachedTokens, cacheWriteTokens, completionTokens }
          expect(costMicro(usage, used.prices)).toBeLessThanOrEqual(granted)
          expect(limit).toBeGreaterThanOrEqual(1)
        },
      ),
      { numRuns: 2_000 },
    )
  })
}

test('with a limit the hold is exact, without one it may be anything from the floor to the maximum', () => {
  expect(worstCase(chat({ max_tokens: 100 }), model({}))).toMatchObject({ limitMin: 100, limitMax: 100 })
  const open = worstCase(chat({}), model({}))
  expect(open).toMatchObject({ limitMin: 256, limitMax: 16_384 })
  expect(open.minMicro).toBeLessThan(open.maxMicro)
  expect(grantedLimit(open, open.minMicro, model({}))).toBe(256)
  expect(grantedLimit(open, open.maxMicro, model({}))).toBe(16_384)
})

test('both limit fields: the smaller counts, and neither exceeds the model', () => {
  expect(chat({ max_tokens: 10, max_completion_tokens: 20 }).limit).toBe(10)
  expect(worstCase(chat({ max_tokens: 99_999 }), model({})).limitMax).toBe(16_384)
})

test('prompt and limit stay within the context', () => {
  const long = chat({ messages: [{ role: 'user', content: 'word '.repeat(2_000) }] })
  const { limitMax, likelyPromptTokens } = worstCase(long, model({ contextTokens: 4_000, maxOutputTokens: 4_000 }))
  expect(likelyPromptTokens).toBeGreaterThanOrEqual(2_000)
  expect(limitMax + likelyPromptTokens).toBeLessThanOrEqual(4_000)
})

test('the dearest price of a prompt token counts: writing to the cache can cost more', () => {
  const plain = worstCase(chat({}), model({})).minMicro
  expect(worstCase(chat({}), model({ cacheWriteMicro: 187_500 })).minMicro).toBeGreaterThan(plain)
  expect(worstCase(chat({}), model({ cachedInMicro: 75_000 })).minMicro).toBe(plain)
})

test('media cost their bound and not their bytes, and are refused where there is none', () => {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(100_000)}` } }
  const withImage = chat({ messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, image, image] }] })
  const { promptTokens } = worstCase(withImage, model({ mediaTokens: { image: 1_500 } }))
  expect(promptTokens).toBeGreaterThan(3_000)
  expect(promptTokens).toBeLessThan(4_500)
  expect(() => worstCase(withImage, model({}))).toThrow('takes no image input')
})

test.each([
  ['numbers', `[${Array(4_000).fill('1e20').join()}]`],
  ['escapes', `"${'\\ufdfa'.repeat(4_000)}"`],
])('arguments of calls are held as they are sent: %s', (_, value) => {
  const tool_calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: `{"a":${value}}` } }]
  const asked = chat({ messages: [{ role: 'assistant', tool_calls }], max_tokens: 1 })
  for (const [kind, normalization] of [
    ['anthropic', 'NFKC'],
    ['gemini', 'NFC'],
  ] as const) {
    const used = model({ contextTokens: 1_000_000 }, undefined, kind)
    const sent = used.routes.map(({ provider, target }) => provider.chat(target, asked, 1).body)
    const { promptTokens } = worstCase(asked, used)
    expect(promptTokens).toBeGreaterThanOrEqual(Buffer.byteLength(sent.join().normalize(normalization)))
  }
})

test('nothing makes the bound of a text less than its bytes', () => {
  expect(bytesBound({ bytes: 10, units: 30 }, { byteMultiplier: 11, perRequest: 0, perMessage: 0, perTool: 0 })).toBe(
    10,
  )
})

test('more choices hold more', () => {
  const of = (n: number) => worstCase(chat({ n, max_tokens: 1_000 }), model({ inMicro: 0 })).maxMicro
  expect(of(5)).toBe(5n * of(1))
})

test('the route whose bound is highest decides', () => {
  const text = chat({ messages: [{ role: 'user', content: '河'.repeat(1_000) }], max_tokens: 1 })
  const [plain, normalizing] = [model({}, 1), model({}, 11)]
  const both = { ...plain, routes: [...plain.routes, ...normalizing.routes] }
  expect(worstCase(text, both)).toEqual(worstCase(text, normalizing))
  expect(worstCase(text, normalizing).promptTokens).toBeGreaterThan(3 * worstCase(text, plain).promptTokens)
})
