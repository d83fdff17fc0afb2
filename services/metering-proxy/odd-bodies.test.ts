import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startUpstream } from '@tollgate/upstream'
import { type Rig, startRig } from './test/rig.ts'

const seen: Record<string, unknown>[] = []
const upstream = startUpstream({ tokens: 5, observe: ({ body }) => seen.push(body as Record<string, unknown>) })
let rig: Rig
beforeAll(async () => {
  const urls = [upstream.url]
  rig = await startRig({
    small: { urls, entry: { mediaTokens: { image: 1_000 } } },
    long: { urls, entry: { contextTokens: 20_000_000 } },
  })
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await upstream.stop()
})

const MESSAGE = '{"role":"user","content":"hi"}'
/** A body as a caller writes it; of fields that are written twice, the second ones are these. */
const written = (fields: string, messages = MESSAGE) =>
  `{"model":"small","max_tokens":5,"messages":[${messages}]${fields && `,${fields}`}}`
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
const ask = async (body: string | Uint8Array) => {
  const caller = await rig.account(10_000_000n)
  const answer = await rig.send(caller, '/v1/chat/completions', body)
  const text = await answer.text()
  return { caller, status: answer.status, text }
}

const refused: [name: string, body: string | Uint8Array][] = [
  ['200,000 levels', written(`"x":${'['.repeat(200_000)}${']'.repeat(200_000)}`)],
  ['a million messages', written('', Array(1_000_000).fill(MESSAGE).join())],
  ['a byte that is no UTF-8', bytes('{"model":"small","messages":[{"role":"user","content":"', [0xff], '"}]}')],
  ['half a surrogate in bytes', bytes('{"model":"small","messages":"', [0xed, 0xa0, 0x80], '"}')],
  ['UTF-16', Buffer.from(`\ufeff${written('')}`, 'utf16le')],
  ['a NUL after its end', `${written('')}\0`],
  ['messages that are written twice, empty the second time', written('"messages":[]')],
  ['a limit that is written twice, text the second time', written('"max_tokens":"6"')],
  ['an endless limit', written('"max_tokens":1e999')],
  ['a limit of minus nothing', written('"max_tokens":-0')],
  ['a limit beyond exact numbers', written('"max_tokens":9007199254740993')],
  ['a limit of 4 GB', written('"max_completion_tokens":4294967296')],
  ['minus nothing choices', written('"n":-0')],
  ['10^9 choices', written('"n":1000000000')],
  ['a model of 4 KB', written(`"model":"${'m'.repeat(4_096)}"`)],
  ['a model that is a path', written('"model":"../../small"')],
  ['a model with line breaks', written('"model":"small\\r\\nX-Evil: 1\\u0000"')],
  ['a model of the prototype', written('"model":"constructor"')],
  ['messages from the prototype', '{"model":"small","__proto__":{"messages":[{"role":"user","content":"hi"}]}}'],
  [
    'an image that is a video',
    written('', '{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:video/mp4;base64,AAAA"}}]}'),
  ],
]

test.each(refused)('%s: 400 or 404, and nothing is held or sent', async (_, body) => {
  const before = seen.length
  const { caller, status, text } = await ask(body)
  expect([400, 404]).toContain(status)
  expect(Object.keys(JSON.parse(text))).toEqual(['error'])
  expect(text.length).toBeLessThan(400)
  expect((await rig.history(caller.acct)).entries).toEqual([])
  expect(seen.length).toBe(before)
})

const taken: [name: string, body: string | Uint8Array, arrives: object][] = [
  ['a byte order mark', `\ufeff${written('')}`, { max_tokens: 5 }],
  ['a limit that is written twice', written('"max_tokens":4'), { max_tokens: 4 }],
  [
    'half a surrogate, escaped',
    written('', '{"role":"user","content":"\\ud800"}'),
    { messages: [{ role: 'user', content: '\ud800' }] },
  ],
  [
    'a NUL, escaped',
    written('', '{"role":"user","content":"a\\u0000b"}'),
    { messages: [{ role: 'user', content: 'a\0b' }] },
  ],
  [
    'a role that we do not know',
    written('', '{"role":"martian","content":"hi"}'),
    { messages: [{ role: 'martian', content: 'hi' }] },
  ],
  ['numbers at the edge of what is exact', written('"seed":9007199254740991,"top_p":-0.0'), { seed: 9007199254740991 }],
  [
    'line breaks in metadata',
    written('"metadata":{"a":"x\\r\\nX-Evil: 1\\u0000"}'),
    { metadata: { a: 'x\r\nX-Evil: 1\0' } },
  ],
  [
    'a schema that names itself',
    written('"tools":[{"type":"function","function":{"name":"f","parameters":{"$ref":"#"}}}]'),
    { tools: [{ type: 'function', function: { name: 'f', parameters: { $ref: '#' } } }] },
  ],
  [
    'a constructor',
    written('"constructor":{"prototype":{"stream":true}}'),
    { stream: false, constructor: { prototype: { stream: true } } },
  ],
  [
    'an image in the body',
    written('', '{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}'),
    { max_tokens: 5 },
  ],
]

test.each(taken)('%s arrives as it was written, and is charged once', async (_, body, arrives) => {
  const { caller, status, text } = await ask(body)
  expect(status).toBe(200)
  expect(seen.at(-1)).toMatchObject(arrives)
  const { entries } = await rig.history(caller.acct)
  expect(entries.map(({ kind }) => kind).sort()).toEqual(['hold', 'settle'])
  const { usage_ext } = JSON.parse(text) as { usage_ext: { cost_micro: number } }
  expect((await rig.balance(caller.acct)).postedMicro).toBe(10_000_000n - BigInt(usage_ext.cost_micro))
})

test('a __proto__ sets no field of ours, in the body or in a message', async () => {
  const message = '{"role":"user","content":"hi","__proto__":{"role":"system"}}'
  const { status } = await ask(written('"__proto__":{"stream":true,"n":5}', message))
  expect(status).toBe(200)
  expect(seen.at(-1)).toMatchObject({ stream: false, messages: [{ role: 'user', content: 'hi' }] })
  expect(seen.at(-1)).not.toHaveProperty('n')
  expect(({} as Record<string, unknown>).stream).toBeUndefined()
})

test('a text of 10 MB is held by its bytes: who has too little is told 402, who has enough pays no more', async () => {
  const body = written('"model":"long"', `{"role":"user","content":"${'a'.repeat(10_000_000)}"}`)
  expect((await ask(body)).status).toBe(402)
  const rich = await rig.account(20_000_000n)
  expect((await rig.send(rich, '/v1/chat/completions', body)).status).toBe(200)
  const { entries } = await rig.history(rich.acct)
  const heldMicro = entries.find(({ kind }) => kind === 'hold')?.heldMicro ?? 0n
  expect(heldMicro).toBeGreaterThan(10_000_000n)
  const balance = await rig.balance(rich.acct)
  expect(20_000_000n - balance.postedMicro).toBeLessThanOrEqual(heldMicro)
  expect(balance.heldMicro).toBe(0n)
})
