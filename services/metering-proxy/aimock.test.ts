import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { LLMock } from '@copilotkit/aimock'
import { type Caller, dataOf, type Rig, startRig } from './test/rig.ts'

/** A provider that no one here wrote. */
const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 4, latency: 2 })
const usage = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 }
const COST = 20 + 2 * 7
let rig: Rig
let caller: Caller
beforeAll(async () => {
  await mock.start()
  const kind = (name: string, path: string) => ({ urls: [`${mock.url}${path}`], provider: { kind: name } })
  rig = await startRig(
    {
      'gpt-4o': kind('openai', '/v1'),
      'claude-sonnet-4-5': kind('anthropic', '/v1'),
      'gemini-2.5-flash': kind('gemini', '/v1beta'),
    },
    { LOG_LEVEL: 'silent' },
  )
  caller = await rig.account(10_000_000n)
}, 30_000)
afterEach(() => {
  mock.clearFixtures()
})
afterAll(async () => {
  await rig?.stop()
  await mock.stop()
})

const models = ['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-flash']
async function paidFor(run: () => Promise<void>): Promise<number> {
  const before = await rig.balance(caller.acct)
  await run()
  const after = await rig.balance(caller.acct)
  expect(after.heldMicro).toBe(0n)
  return Number(before.availableMicro - after.availableMicro)
}
const ask = (model: string, body: object = {}) =>
  rig.chat(caller, { model, max_tokens: 50, messages: [{ role: 'user', content: 'hello there' }], ...body })

test.each(models)('%s: whole and streamed, the charge is the formula of what it reported', async model => {
  mock.onMessage('hello', { content: 'Grüß dich, Welt! 👋', usage })
  const whole = await paidFor(async () => {
    const body = (await (await ask(model)).json()) as Record<string, unknown>
    expect(body).toMatchObject({
      choices: [{ message: { content: 'Grüß dich, Welt! 👋' } }],
      usage_ext: { cost_micro: COST },
    })
  })
  const streamed = await paidFor(async () => {
    const data = dataOf(await (await ask(model, { stream: true, stream_options: { include_usage: true } })).text())
    expect(data.at(-1)).toBe('[DONE]')
    const chunks = data.slice(0, -1).map(json => JSON.parse(json))
    expect(chunks.map(chunk => chunk.choices[0]?.delta?.content ?? '').join('')).toBe('Grüß dich, Welt! 👋')
    expect(chunks.at(-1)).toMatchObject({ usage, usage_ext: { cost_micro: COST } })
  })
  expect([whole, streamed]).toEqual([COST, COST])
})

test.each(models)('%s: its errors are listed answers and free', async model => {
  mock.onMessage('hello', { content: 'hi', usage })
  for (const [status, expected] of [
    [429, 502],
    [500, 502],
    [503, 502],
    [401, 503],
  ] as const) {
    mock.nextRequestError(status, { message: 'no', type: 'error' })
    const paid = await paidFor(async () => expect((await ask(model, { stream: true })).status).toBe(expected))
    expect(paid).toBe(0)
  }
})

test.each(models)(
  '%s: a connection that breaks mid-stream ends with an error event, never as if it were whole',
  async model => {
    const words = 'many words and then nothing more '.repeat(8)
    mock.onMessage('hello', { content: words, usage }, { truncateAfterChunks: 12, latency: 20 })
    const paid = await paidFor(async () => {
      const data = dataOf(await (await ask(model, { stream: true })).text())
      const last = JSON.parse(data.at(-1) ?? '')
      expect(last.error.code).toBe('upstream_error')
      expect(last.usage_ext.cost_micro).toBeGreaterThan(0)
    })
    expect(paid).toBeGreaterThan(0)
  },
)
