import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from 'bun:test'
import {
  answers,
  type Behaviour,
  completionText,
  errorText,
  type RawUpstream,
  refusingUrl,
  startRaw,
  streamFaults,
  streams,
} from '@tollgate/upstream'
import type { Model, Route } from './catalogue.ts'
import { UpstreamFailure } from './providers/failure.ts'
import { byOrderAndWeight, openRoutes } from './routes.ts'
import { dataOf, type Rig, startRig } from './test/rig.ts'

/** What the first route of each model does; the second answers honestly. */
const firsts: Record<string, Behaviour> = {
  busy: answers(429, errorText('slow down'), { 'retry-after': '30' }),
  'without credit': answers(429, errorText('pay', 'insufficient_quota')),
  failing: answers(500, errorText('oops')),
  'not ours': answers(401, errorText('bad key sk-1234567890abcdef')),
  'picky about requests': answers(400, errorText('temperature must be cold')),
  'resetting before words': streamFaults['resets after headers'],
  'resetting after words': async wire => {
    await streams({ words: ['Once'], usages: [], finish: false, done: false, end: 'hang' })(wire)
    // The words are on their way before the reset is.
    await Bun.sleep(200)
    wire.reset()
  },
}
const sizes = { contextTokens: 1_000, maxOutputTokens: 900 }
const limits: number[] = []
let stumbles = 12
const tooLong = (said: string): Behaviour => {
  return wire => {
    const limit = Number(JSON.parse(wire.body).max_tokens)
    limits.push(limit)
    return limit > 300
      ? answers(400, errorText(said, 'context_length_exceeded'))(wire)
      : answers(200, completionText())(wire)
  }
}
const alones: Record<string, [Behaviour, object]> = {
  'redirecting alone': [wire => answers(307, '', { location: `${second.url}/chat/completions` })(wire), {}],
  'busy alone': [answers(429, errorText('slow down'), { 'retry-after': '30' }), {}],
  'without credit alone': [answers(429, errorText('pay', 'insufficient_quota')), {}],
  'stumbling alone': [
    wire => (stumbles-- > 0 ? answers(500, errorText('oops')) : answers(200, completionText()))(wire),
    {},
  ],
  'full of context': [
    tooLong(
      'maximum context length is 1000 tokens. However, you requested 1600 (700 in the messages, 900 in the completion)',
    ),
    sizes,
  ],
  'full of context, silent about it': [tooLong('context_length_exceeded'), sizes],
}

let first: RawUpstream
let second: RawUpstream
let rig: Rig
beforeAll(async () => {
  const act: Behaviour = wire => {
    const model = String(JSON.parse(wire.body).model)
    return (firsts[model] ?? alones[model]?.[0])?.(wire)
  }
  const honest: Behaviour = wire => (JSON.parse(wire.body).stream ? streams() : answers(200, completionText()))(wire)
  ;[first, second] = await Promise.all([startRaw(act), startRaw(honest)])
  const two = Object.keys(firsts).map(id => [id, { urls: [first.url, second.url] }] as const)
  const one = Object.entries(alones).map(([id, [, entry]]) => [id, { urls: [first.url], entry }] as const)
  const refusing = ['refusing', { urls: [refusingUrl(), second.url] }] as const
  const full = [
    'narrow',
    {
      urls: [first.url],
      entry: { routes: [{ provider: 'provider-0-0', model: 'resetting after words', concurrency: 1 }] },
    },
  ] as const
  rig = await startRig(Object.fromEntries([...two, ...one, refusing, full]), { LOG_LEVEL: 'silent' })
}, 30_000)
afterEach(() => {
  setSystemTime()
})
afterAll(async () => {
  await rig?.stop()
  await Promise.all([first?.stop(), second?.stop()])
})

async function ask(model: string, body: object = {}) {
  const caller = await rig.account(1_000_000n)
  const response = await rig.chat(caller, { model, max_tokens: 50, ...body })
  const text = await response.text()
  const { availableMicro, heldMicro } = await rig.balance(caller.acct)
  return {
    status: response.status,
    headers: response.headers,
    text,
    paid: Number(1_000_000n - availableMicro),
    heldMicro,
  }
}

test.each(['busy', 'without credit', 'failing', 'not ours', 'refusing'])(
  'the next route answers when the first is %s',
  async model => {
    expect(await ask(model)).toMatchObject({ status: 200, paid: 16 })
    expect(await ask(model, { stream: true })).toMatchObject({ status: 200, paid: 16 })
  },
)

test('a request that one route finds wrong is not tried elsewhere', async () => {
  const before = second.requests
  const { status, text, paid } = await ask('picky about requests')
  expect({ status, paid }).toEqual({ status: 400, paid: 0 })
  expect(JSON.parse(text).error).toEqual({ code: 'bad_request', message: 'temperature must be cold' })
  expect(second.requests).toBe(before)
})

test('another route takes over before the first word, and never after it', async () => {
  const before = await ask('resetting before words', { stream: true })
  expect(before).toMatchObject({ status: 200, paid: 16 })
  expect(dataOf(before.text).at(-1)).toBe('[DONE]')
  const requests = second.requests
  const after = await ask('resetting after words', { stream: true })
  const last = JSON.parse(dataOf(after.text).at(-1) ?? '')
  expect(last.error.code).toBe('upstream_error')
  expect(last.usage_ext).toEqual({ cost_micro: after.paid, estimated: true })
  expect(after.text).toContain('Once')
  expect(second.requests).toBe(requests)
})

test('when the only route is busy the answer is 502 with its retry-after; without credit there it is ours to mend', async () => {
  const busy = await ask('busy alone')
  expect({ status: busy.status, retry: busy.headers.get('retry-after'), paid: busy.paid }).toEqual({
    status: 502,
    retry: '30',
    paid: 0,
  })
  expect(await ask('without credit alone')).toMatchObject({ status: 503, paid: 0, heldMicro: 0n })
})

test('a redirect is not followed: our key and the prompt go where the catalogue says', async () => {
  const before = second.requests
  expect(await ask('redirecting alone')).toMatchObject({ status: 502, paid: 0 })
  expect(second.requests).toBe(before)
})

test('a limit that we chose and that did not fit is made smaller, once', async () => {
  limits.length = 0
  const { status, text } = await ask('full of context', { max_tokens: undefined })
  expect(status).toBe(200)
  expect(limits[1]).toBe(300)
  expect(JSON.parse(text).usage_ext.max_tokens).toBe(300)
  limits.length = 0
  expect((await ask('full of context, silent about it', { max_tokens: undefined })).status).toBe(200)
  expect(limits[1]).toBe(256)
})

test('a limit that the caller chose and that did not fit is the caller’s 400', async () => {
  limits.length = 0
  const { status, text, paid } = await ask('full of context', { max_tokens: 900 })
  expect({ status, paid, sent: limits.length }).toEqual({ status: 400, paid: 0, sent: 1 })
  expect(JSON.parse(text).error.message).toContain('maximum context length')
})

test('a route that is full takes no more', async () => {
  const [one, other] = await Promise.all([ask('narrow', { stream: true }), ask('narrow', { stream: true })])
  expect([one.status, other.status].sort()).toEqual([200, 502])
  expect((await ask('narrow', { stream: true })).status).toBe(200)
})

const route = (name: string, order: number, weight: number) => ({ name, order, weight }) as Route

test('lower orders come first, and weights share one order', () => {
  const routes = [route('c', 1, 1), route('a', 0, 3), route('b', 0, 1)]
  const firsts = Array.from({ length: 4_000 }, () => byOrderAndWeight(routes, Math.random).map(({ name }) => name))
  expect(firsts.every(names => names[2] === 'c')).toBe(true)
  const share = firsts.filter(names => names[0] === 'a').length / firsts.length
  expect(share).toBeGreaterThan(0.7)
  expect(share).toBeLessThan(0.8)
})

const modelOf = (...routes: Route[]) => ({ routes }) as unknown as Model
const roomy = (name: string) => ({ ...route(name, 0, 1), concurrency: 100 })
const down = () => Promise.reject(new UpstreamFailure('failed', 'down'))

test('a route rests after failing too often, not for requests that were wrong', async () => {
  const routes = openRoutes(Math.random)
  const [good, bad] = [roomy('good'), roomy('bad')]
  for (let count = 0; count < 50; count++) {
    await routes.attempt(good, () => Promise.reject(new UpstreamFailure('refused', 'wrong'))).catch(() => undefined)
    const left = new UpstreamFailure('failed', 'left', { outcome: 'aborted' })
    await routes.attempt(good, () => Promise.reject(left)).catch(() => undefined)
    await routes.attempt(bad, down).catch(() => undefined)
  }
  expect(routes.candidates(modelOf(bad, good))).toEqual([good])
})

test('a route that rested is tried by one request, and rests for the others until that has an answer', async () => {
  const routes = openRoutes(Math.random)
  const [good, bad] = [roomy('good'), roomy('bad')]
  const names = () => routes.candidates(modelOf(bad, good)).map(({ name }) => name)
  for (let count = 0; count < 50; count++) await routes.attempt(bad, down).catch(() => undefined)
  setSystemTime(Date.now() + 6_000)
  expect(names().sort()).toEqual(['bad', 'good'])
  const trial = Promise.withResolvers<string>()
  const tried = routes.attempt(bad, () => trial.promise)
  expect(names()).toEqual(['good'])
  trial.resolve('fine')
  expect(await tried).toBe('fine')
  expect(names().sort()).toEqual(['bad', 'good'])
})

test('where all routes rest they are asked all the same, also while one is being tried', async () => {
  const routes = openRoutes(Math.random)
  const only = roomy('only')
  for (let count = 0; count < 50; count++) await routes.attempt(only, down).catch(() => undefined)
  expect(routes.candidates(modelOf(only))).toEqual([only])
  expect(await routes.attempt(only, async () => 'fine')).toBe('fine')
  setSystemTime(Date.now() + 6_000)
  const trial = Promise.withResolvers<string>()
  const tried = routes.attempt(only, () => trial.promise)
  expect(await routes.attempt(only, async () => 'also fine')).toBe('also fine')
  trial.resolve('fine')
  await tried
})

test('an only route that failed a dozen times answers the next request', async () => {
  const statuses: number[] = []
  for (let count = 0; count < 14; count++) statuses.push((await ask('stumbling alone')).status)
  expect(statuses).toEqual([...Array.from({ length: 12 }, () => 502), 200, 200])
})
