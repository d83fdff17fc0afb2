import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startUpstream } from '@tollgate/upstream'
import { type Caller, dataOf, type Rig, startRig } from './test/rig.ts'

const upstream = startUpstream({ tokens: 5 })
let rig: Rig
let alice: Caller
beforeAll(async () => {
  rig = await startRig({ small: { urls: [upstream.url] } })
  alice = await rig.account(1_000_000n)
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await upstream.stop()
})

test('a completion is charged the formula of its usage, and the balance shows it when it ends', async () => {
  const before = await rig.balance(alice.acct)
  const response = await rig.chat(alice, { model: 'small', max_tokens: 20 })
  const body = (await response.json()) as { usage: Record<string, number>; usage_ext: { cost_micro: number } }
  expect(response.status).toBe(200)
  expect(body.usage).toEqual({ prompt_tokens: 8, completion_tokens: 5, total_tokens: 13 })
  expect(body.usage_ext).toEqual({ cost_micro: 8 * 1 + 5 * 2 })
  expect(await rig.balance(alice.acct)).toEqual({
    ...before,
    postedMicro: before.postedMicro - 18n,
    availableMicro: before.availableMicro - 18n,
  })
})

test('a stream ends with the charge in its last chunk, and shows usage only when asked', async () => {
  const before = await rig.balance(alice.acct)
  const plain = dataOf(await (await rig.chat(alice, { model: 'small', stream: true })).text())
  expect(plain.at(-1)).toBe('[DONE]')
  expect(JSON.parse(plain.at(-2) ?? '')).toMatchObject({
    choices: [{ finish_reason: 'stop' }],
    usage_ext: { cost_micro: 18 },
  })
  expect(plain.join('')).not.toContain('"usage"')
  const counted = dataOf(
    await (await rig.chat(alice, { model: 'small', stream: true, stream_options: { include_usage: true } })).text(),
  )
  expect(JSON.parse(counted.at(-2) ?? '')).toMatchObject({
    choices: [],
    usage: { completion_tokens: 5 },
    usage_ext: { cost_micro: 18 },
  })
  expect((await rig.balance(alice.acct)).availableMicro).toBe(before.availableMicro - 36n)
})
