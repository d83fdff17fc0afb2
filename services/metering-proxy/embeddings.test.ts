import { afterAll, beforeAll, expect, test } from 'bun:test'
import { answers, type RawUpstream, startRaw, startUpstream } from '@tollgate/upstream'
import { type Caller, type Rig, startRig } from './test/rig.ts'

const upstream = startUpstream()
const vectors = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] }
let raw: RawUpstream
let rig: Rig
let caller: Caller
beforeAll(async () => {
  raw = await startRaw(wire =>
    answers(200, JSON.stringify(/silent/.test(wire.body) ? vectors : { error: { message: 'no' } }))(wire),
  )
  const entry = { type: 'embedding', outMicro: 0, contextTokens: 1_000, maxOutputTokens: undefined }
  rig = await startRig({
    vectors: { urls: [upstream.url], entry },
    silent: { urls: [raw.url], entry },
    failing: { urls: [raw.url], entry },
    chat: { urls: [upstream.url] },
  })
  caller = await rig.account(1_000_000n)
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await Promise.all([raw?.stop(), upstream.stop()])
})

async function embed(body: object) {
  const before = await rig.balance(caller.acct)
  const response = await rig.send(caller, '/v1/embeddings', { model: 'vectors', ...body })
  const after = await rig.balance(caller.acct)
  expect(after.heldMicro).toBe(0n)
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    paid: Number(before.availableMicro - after.availableMicro),
  }
}

test('texts and tokens in every form are embedded, and cost their prompt', async () => {
  const one = await embed({ input: 'eight ch' })
  expect(one).toMatchObject({
    status: 200,
    paid: 2,
    body: { object: 'list', usage: { prompt_tokens: 2, total_tokens: 2 }, usage_ext: { cost_micro: 2 } },
  })
  expect(await embed({ input: ['eight ch', 'four'], dimensions: 4, encoding_format: 'base64' })).toMatchObject({
    status: 200,
    paid: 3,
  })
  expect(await embed({ input: [1, 2, 3] })).toMatchObject({ status: 200, paid: 3 })
  expect(await embed({ input: [[1, 2], [3]] })).toMatchObject({ status: 200, paid: 3 })
})

test('usage that is missing is counted and marked', async () => {
  const answer = await embed({ model: 'silent', input: ['hello world', [1, 2, 3]] })
  expect(answer).toMatchObject({
    status: 200,
    paid: 5,
    body: { usage: { prompt_tokens: 5 }, usage_ext: { cost_micro: 5, estimated: true } },
  })
})

test('what is no input, no embedding model, or no answer costs nothing', async () => {
  for (const input of [undefined, '', [], [''], [[]], [1.5], [-1], {}, [{}], ['a', [1.5]], Array(2_049).fill('a')]) {
    expect(await embed({ input })).toMatchObject({ status: 400, paid: 0 })
  }
  expect(await embed({ model: 'chat', input: 'a' })).toMatchObject({ status: 400, paid: 0 })
  expect(await embed({ model: 'nothing', input: 'a' })).toMatchObject({ status: 404, paid: 0 })
  expect(await embed({ model: 'failing', input: 'a' })).toMatchObject({ status: 502, paid: 0 })
  const poor = await rig.account(0n)
  expect((await rig.send(poor, '/v1/embeddings', { model: 'vectors', input: 'a' })).status).toBe(402)
})
