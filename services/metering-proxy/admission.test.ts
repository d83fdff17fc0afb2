import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ledger, newId } from '@tollgate/contracts'
import { startUpstream } from '@tollgate/upstream'
import { type Rig, startRig } from './test/rig.ts'

type Body = { error?: { code: string; message: string }; usage_ext?: { cost_micro: number; max_tokens?: number } }
const seen: Record<string, unknown>[] = []
const upstream = startUpstream({ tokens: 5, observe: ({ body }) => seen.push(body as Record<string, unknown>) })
let rig: Rig
beforeAll(async () => {
  const urls = [upstream.url]
  rig = await startRig({
    small: { urls, entry: { minCompletionTokens: 50 } },
    seeing: { urls, entry: { mediaTokens: { image: 1_000 } } },
    newer: { urls, provider: { limitField: 'max_completion_tokens' } },
    'meta/llama:3 ü': { urls },
    vectors: { urls, entry: { type: 'embedding', outMicro: 0 } },
  })
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await upstream.stop()
})

const messages = [{ role: 'user', content: 'Tell.' }]
async function read(response: Response): Promise<{ status: number; body: Body }> {
  return { status: response.status, body: (await response.json()) as Body }
}
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

const refusals: [string, unknown, number, string][] = [
  ['no body', '', 400, 'JSON'],
  ['no JSON', '{', 400, 'JSON'],
  ['an array', '[]', 400, 'object'],
  ['no messages', { model: 'small' }, 400, '"messages"'],
  ['empty messages', { model: 'small', messages: [] }, 400, '"messages"'],
  ['messages that are text', { model: 'small', messages: 'hi' }, 400, '"messages"'],
  ['messages without role', { model: 'small', messages: [{ content: 'hi' }] }, 400, '"messages"'],
  ['no model', { messages }, 400, '"model"'],
  ['a model that is a list', { model: ['small'], messages }, 400, '"model"'],
  ['an unknown model', { model: 'large', messages }, 404, 'large'],
  ['a model of the prototype', { model: '__proto__', messages }, 404, 'no model'],
  ['an embedding model', { model: 'vectors', messages }, 400, 'not for this endpoint'],
  ['stream as text', { model: 'small', messages, stream: 'true' }, 400, '"stream"'],
  ['n of zero', { model: 'small', messages, n: 0 }, 400, '"n"'],
  ['n without end', { model: 'small', messages, n: 1e9 }, 400, '"n"'],
  ['a negative limit', { model: 'small', messages, max_tokens: -1 }, 400, '"max_tokens"'],
  ['a limit beyond any model', { model: 'small', messages, max_tokens: 1e12 }, 400, '"max_tokens"'],
  ['a fraction as limit', { model: 'small', messages, max_completion_tokens: 1.5 }, 400, '"max_completion_tokens"'],
  ['a limit as text', { model: 'small', messages, max_tokens: '5' }, 400, '"max_tokens"'],
  ['an image where none is priced', { model: 'small', messages: [{ role: 'user', content: [image] }] }, 400, 'image'],
  [
    'a part of unknown kind',
    { model: 'seeing', messages: [{ role: 'user', content: [{ type: 'video_url' }] }] },
    400,
    'parts',
  ],
  ['web search', { model: 'small', messages, web_search_options: {} }, 400, '"web_search_options"'],
  ['another model as fallback', { model: 'small', messages, models: ['dear'] }, 400, '"models"'],
  ['a dearer tier', { model: 'small', messages, service_tier: 'priority' }, 400, '"service_tier"'],
  ['spoken answers', { model: 'small', messages, modalities: ['text', 'audio'] }, 400, '"modalities"'],
  ["a provider's own tool", { model: 'small', messages, tools: [{ type: 'web_search' }] }, 400, '"tools"'],
]

test.each(refusals)('%s is refused before anything is held', async (_, body, status, about) => {
  const caller = await rig.account(1_000n)
  const before = seen.length
  const answer = await read(await rig.send(caller, '/v1/chat/completions', body))
  expect(answer).toMatchObject({ status, body: { error: { message: expect.stringContaining(about) } } })
  expect(seen.length).toBe(before)
  expect((await rig.history(caller.acct)).entries).toEqual([])
})

test('an account without credits is told 402, what it needs and what it has', async () => {
  const answer = await read(await rig.chat(await rig.account(0n), { model: 'small', max_tokens: 10 }))
  expect(answer).toMatchObject({ status: 402, body: { error: { code: 'insufficient_credits' } } })
  expect(answer.body.error?.message).toMatch(/needs \d+ micro-USD set aside, 0 are available/)
})

test('a key uses the models that it may use, and lists all', async () => {
  const caller = { ...(await rig.account(1_000_000n)), models: ['small'] }
  expect((await rig.chat(caller, { model: 'small', max_tokens: 5 })).status).toBe(200)
  expect((await rig.chat(caller, { model: 'newer', max_tokens: 5 })).status).toBe(403)
  const list = (await (await rig.send(caller, '/v1/models', undefined)).json()) as { data: { id: string }[] }
  expect(list.data.map(model => model.id)).toEqual(['small', 'seeing', 'newer', 'meta/llama:3 ü', 'vectors'])
  expect(list.data[0]).toEqual({
    id: 'small',
    object: 'model',
    created: 0,
    owned_by: 'provider-0-0',
    context_length: 100_000,
    max_output_tokens: 1_000,
    pricing: { in_micro: 1_000_000, out_micro: 2_000_000 },
  } as object as { id: string })
  expect(await (await rig.send(caller, '/v1/models/newer', undefined)).json()).toMatchObject({ id: 'newer' })
  const path = `/v1/models/${encodeURIComponent('meta/llama:3 ü')}`
  expect(await (await rig.send(caller, path, undefined)).json()).toMatchObject({ id: 'meta/llama:3 ü' })
  expect((await rig.send(caller, '/v1/models/none', undefined)).status).toBe(404)
})

test('a capped key stops at its cap with 402, a closed key with 401', async () => {
  const account = await rig.account(1_000_000n)
  const key = newId('key')
  const cap = { account: account.acct, key, capMicro: 900n, window: 'none' } as const
  await rig.keys.call(ledger.setCap, { id: `set_cap:${key}`, ...cap })
  const ask = () => rig.chat({ ...account, key }, { model: 'small', max_tokens: 5 })
  expect((await ask()).status).toBe(200)
  // Each costs 18 and holds some hundreds, so that the cap refuses while some of it is left.
  const answers = await Promise.all(Array.from({ length: 20 }, async () => read(await ask())))
  expect(answers.filter(answer => answer.status !== 200 && answer.status !== 402)).toEqual([])
  expect(answers.find(answer => answer.status === 402)?.body.error?.message).toContain('cap')
  const { keys } = await rig.keys.call(ledger.keySpend, { account: account.acct, keys: [key] })
  expect(keys[0]?.spentMicro).toBeLessThanOrEqual(900n)
  await rig.keys.call(ledger.closeKey, { id: `close_key:${key}`, account: account.acct, key })
  expect(await read(await ask())).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } })
})

test('what a caller sends arrives upstream, fields that we do not know too; what we own is ours', async () => {
  const caller = await rig.account(1_000_000n)
  const body = {
    model: 'small',
    max_tokens: 7,
    temperature: 0.5,
    brand_new_field: { deep: ['é', 1e20] },
    stream_options: { include_obfuscation: false },
  }
  await rig.chat(caller, body)
  expect(seen.at(-1)).toEqual({
    messages,
    temperature: 0.5,
    brand_new_field: { deep: ['é', 1e20] },
    model: 'small',
    max_tokens: 7,
    stream: false,
  })
  await (await rig.chat(caller, { ...body, stream: true })).text()
  expect(seen.at(-1)).toMatchObject({
    stream: true,
    stream_options: { include_usage: true, include_obfuscation: false },
  })
  await rig.chat(caller, { model: 'newer', max_tokens: 7, max_completion_tokens: 6 })
  expect(seen.at(-1)).toMatchObject({ max_completion_tokens: 6 })
  expect(seen.at(-1)).not.toHaveProperty('max_tokens')
})

test('without a limit the grant is half of what is there, and the limit that it pays for is sent and told', async () => {
  const caller = await rig.account(3_000n)
  const { status, body } = await read(await rig.chat(caller, { model: 'small' }))
  expect(status).toBe(200)
  const limit = Number(seen.at(-1)?.max_tokens)
  expect(body.usage_ext).toEqual({ cost_micro: 18, max_tokens: limit })
  const [hold] = (await rig.history(caller.acct)).entries.filter(entry => entry.kind === 'hold')
  expect(hold?.heldMicro).toBe(1_500n)
  expect(limit).toBeGreaterThanOrEqual(50)
  expect(limit).toBeLessThan(750)
  // Rich: the model's maximum. Poor: below the floor nothing is begun.
  await rig.chat(await rig.account(1_000_000n), { model: 'small' })
  expect(seen.at(-1)?.max_tokens).toBe(1_000)
  expect((await rig.chat(await rig.account(300n), { model: 'small' })).status).toBe(402)
})

test('a limit that the caller gave is not said again', async () => {
  const { body } = await read(await rig.chat(await rig.account(1_000_000n), { model: 'small', max_tokens: 900 }))
  expect(body.usage_ext).toEqual({ cost_micro: 18 })
  const clamped = await read(await rig.chat(await rig.account(1_000_000n), { model: 'small', max_tokens: 5_000 }))
  expect(clamped.body.usage_ext).toEqual({ cost_micro: 18, max_tokens: 1_000 })
})

test('of 50 at once on a balance for 10 worst cases never more than 10 are in work, and the charges are the drop', async () => {
  const probe = await rig.account(1_000_000n)
  const body = { model: 'small', max_tokens: 100, sim: { firstMs: 200 } }
  await rig.chat(probe, body)
  const worst = (await rig.history(probe.acct)).entries.find(entry => entry.kind === 'hold')?.heldMicro ?? 0n
  const caller = await rig.account(10n * worst)
  const answers = await Promise.all(Array.from({ length: 50 }, async () => read(await rig.chat(caller, body))))
  expect(answers.filter(answer => answer.status === 200)).toHaveLength(10)
  expect(answers.filter(answer => answer.status === 402)).toHaveLength(40)
  const charged = answers.reduce((sum, answer) => sum + (answer.body.usage_ext?.cost_micro ?? 0), 0)
  const { availableMicro, heldMicro } = await rig.balance(caller.acct)
  expect({ heldMicro, availableMicro }).toEqual({ heldMicro: 0n, availableMicro: 10n * worst - BigInt(charged) })
})
