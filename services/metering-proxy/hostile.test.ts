import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '@tollgate/testing'
import {
  answers,
  type Behaviour,
  bodyFaults,
  completionText,
  connectionFaults,
  errorText,
  type RawUpstream,
  refusingUrl,
  startRaw,
  streamFaults,
  streams,
  usageLies,
} from '@tollgate/upstream'
import { dataOf, type Rig, startRig } from './test/rig.ts'

/** Short, so that hanging providers take a test no time; the honest ones answer in a millisecond. */
const TIMES = { FIRST_EVENT_MS: '800', IDLE_MS: '800', TOTAL_MS: '2000', ABANDONED_MS: '300' }
const CREDIT = 100_000_000n
/** Ten prompt and three completion tokens, at 1 and 2 micro-USD. */
const HONEST = 16

/**
 * What a caller sees and pays: a status before output (free), a whole answer with its charge, or an error event after output
 * with the charge for what was given. `counted`: more than nothing, and marked as an estimate.
 */
type Seen = { status: number } | { whole: number | 'counted' } | { broken: 'counted' | 'free' } | { either: Seen[] }

const free502: Seen = { status: 502 }
/** A fault right behind the words: whether they were shown before it is a matter of microseconds, and they cost only then. */
const cut: Seen = { either: [{ broken: 'counted' }, free502] }
const streamRows: Record<string, [Behaviour, Seen]> = {
  ...mapped(connectionFaults, () => free502),
  ...pairs(streamFaults, {
    'hangs after headers': free502,
    'resets after headers': free502,
    'ends after headers': free502,
    'hangs after words': { broken: 'counted' },
    'resets after words': cut,
    'is cut after words': cut,
    'ends after words': cut,
    'drips single bytes': { whole: HONEST },
    'splits UTF-8': { whole: HONEST },
    'sends invalid UTF-8': cut,
    'uses CRLF': { whole: HONEST },
    'uses CR': { whole: HONEST },
    'sends comments': { whole: HONEST },
    'sends a 10 MB event': { whole: HONEST },
    'sends no [DONE]': { whole: HONEST },
    'sends no finish, but [DONE]': { whole: HONEST },
    'hangs after [DONE]': { whole: HONEST },
    'sends words after [DONE]': { whole: HONEST },
    'sends an error event first': free502,
    'sends an error event after words': cut,
    'sends malformed JSON': cut,
    'sends a chunk without choices': cut,
    'never ends': { broken: 'counted' },
    'never ends a line': free502,
    'answers JSON to a stream': free502,
    'has a bad chunk size': free502,
  }),
  ...mapped(bodyFaults, () => free502),
}
const bodyRows: Record<string, [Behaviour, Seen]> = {
  ...mapped(connectionFaults, () => free502),
  ...mapped(bodyFaults, () => free502),
  'answers honestly': [answers(200, completionText()), { whole: HONEST }],
}
const USAGE_SEEN: Record<keyof typeof usageLies, number | 'counted'> = {
  missing: 'counted',
  null: 'counted',
  empty: 'counted',
  zero: 'counted',
  negative: 'counted',
  // The provider's word is the bill, up to all that the account has.
  huge: Number(CREDIT),
  unsafe: 'counted',
  fraction: 'counted',
  text: 'counted',
  array: 'counted',
  'cached beyond prompt': HONEST,
  'total that is no sum': HONEST,
}
const STATUS_SEEN: Record<number, number> = {
  201: 502,
  204: 502,
  206: 502,
  301: 502,
  302: 502,
  304: 502,
  307: 502,
  400: 400,
  401: 503,
  402: 503,
  403: 503,
  404: 502,
  405: 502,
  408: 502,
  409: 502,
  413: 400,
  418: 502,
  422: 400,
  425: 502,
  429: 502,
  451: 502,
  499: 502,
  500: 502,
  501: 502,
  502: 502,
  503: 502,
  504: 502,
  520: 502,
  529: 502,
  599: 502,
}

function mapped(faults: Record<string, Behaviour>, seen: () => Seen): Record<string, [Behaviour, Seen]> {
  return Object.fromEntries(Object.entries(faults).map(([name, behaviour]) => [name, [behaviour, seen()]]))
}
function pairs<N extends string>(
  faults: Record<N, Behaviour>,
  seen: Record<N, Seen>,
): Record<string, [Behaviour, Seen]> {
  const names = Object.keys(faults) as N[]
  return Object.fromEntries(names.map(name => [name, [faults[name], seen[name]]]))
}

/** Every behaviour by the name of the model that has it. */
const behaviours = new Map<string, Behaviour>()
for (const [name, [behaviour]] of Object.entries(streamRows)) behaviours.set(`stream: ${name}`, behaviour)
for (const [name, [behaviour]] of Object.entries(bodyRows)) behaviours.set(`body: ${name}`, behaviour)
for (const [name, usage] of Object.entries(usageLies)) {
  behaviours.set(`stream: usage ${name}`, streams({ usages: usage === undefined ? [] : [usage] }))
  behaviours.set(`body: usage ${name}`, answers(200, completionText({ usage })))
}
behaviours.set(
  'stream: usage repeated',
  streams({
    usages: [
      { prompt_tokens: 5, completion_tokens: 1 },
      { prompt_tokens: 9, completion_tokens: 2 },
      { prompt_tokens: 10, completion_tokens: 3 },
    ],
  }),
)
for (const status of Object.keys(STATUS_SEEN)) {
  const secret = 'see https://internal.example.com:8443/x or 10.1.2.3, key sk-abcdef1234567890, org-abcdefgh12345'
  behaviours.set(`status ${status}`, answers(Number(status), errorText(`no: ${secret}`), { 'retry-after': '7' }))
}

let raw: RawUpstream
let rig: Rig
beforeAll(async () => {
  raw = await startRaw(wire => behaviours.get(String(JSON.parse(wire.body).model))?.(wire))
  const models = [...behaviours.keys()].map(id => [id, { urls: [raw.url] }] as const)
  rig = await startRig(
    { ...Object.fromEntries(models), refused: { urls: [refusingUrl()] } },
    { ...TIMES, LOG_LEVEL: 'silent' },
  )
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await raw?.stop()
})

/** Sends, reads what comes to its end, and says what it was, against the balance. */
async function see(model: string, stream: boolean): Promise<{ seen: unknown; error: string }> {
  const caller = await rig.account(CREDIT)
  const response = await rig.chat(caller, { model, stream, max_tokens: 500 })
  const text = await response.text()
  const { seen, error, paid } = response.status === 200 ? readAnswer(text, stream) : readRefusal(response.status, text)
  const balance = await eventually(async () => {
    const now = await rig.balance(caller.acct)
    return now.heldMicro === 0n && now
  })
  expect(Number(CREDIT - balance.availableMicro)).toBe(paid)
  return { seen, error }
}

function readRefusal(status: number, text: string) {
  const body = JSON.parse(text)
  expect(Object.keys(body)).toEqual(['error'])
  expect(Object.keys(body.error)).toEqual(['message', 'code'])
  return { seen: { status }, error: String(body.error.message), paid: 0 }
}

function readAnswer(text: string, stream: boolean) {
  const data = stream ? dataOf(text) : [text]
  const done = data.at(-1) === '[DONE]'
  const last = JSON.parse(data.at(stream && done ? -2 : -1) ?? '')
  const paid = Number(last.usage_ext?.cost_micro ?? 0)
  if (last.usage_ext?.estimated) expect(paid).toBeGreaterThan(0)
  const charge = last.usage_ext?.estimated ? 'counted' : paid
  if (last.error) return { seen: { broken: paid === 0 ? 'free' : charge }, error: String(last.error.message), paid }
  expect(done || !stream).toBe(true)
  return { seen: { whole: charge }, error: '', paid }
}

function expectOneOf(expected: Seen, seen: unknown): void {
  if ('either' in expected) expect(expected.either).toContainEqual(seen as Seen)
  else expect(seen).toEqual(expected)
}

async function nothingLeft(): Promise<void> {
  await eventually(() => raw.openSockets === 0, { withinMs: 8_000 })
  await eventually(
    async () =>
      (await rig.gauge('tollgate_holds_open')) === 0 && (await rig.gauge('tollgate_completions_in_work')) === 0,
  )
}

/** These keep a core busy: side by side they would make the others late. */
const isHeavy = ([name]: [string, unknown]) => /never ends|10 MB/.test(name)
const light = (rows: typeof streamRows) => Object.entries(rows).filter(row => !isHeavy(row))
const heavy = (rows: typeof streamRows) => Object.entries(rows).filter(isHeavy)

const streamTest = async (name: string, [, expected]: [Behaviour, Seen]) =>
  expectOneOf(expected, (await see(`stream: ${name}`, true)).seen)
const bodyTest = async (name: string, [, expected]: [Behaviour, Seen]) =>
  expectOneOf(expected, (await see(`body: ${name}`, false)).seen)

test.concurrent.each(light(streamRows))('a provider that streams and %s', streamTest)
test.each(heavy(streamRows))('a provider that streams and %s', streamTest)
test.concurrent.each(light(bodyRows))('a provider that %s', bodyTest)
test.each(heavy(bodyRows))('a provider that %s', bodyTest)

test.concurrent.each(Object.entries(USAGE_SEEN))('usage that is %s', async (name, charge) => {
  expect((await see(`stream: usage ${name}`, true)).seen).toEqual({ whole: charge })
  expect((await see(`body: usage ${name}`, false)).seen).toEqual({ whole: charge })
})

test('of repeated usage the last counts, and is not added up', async () => {
  expect((await see('stream: usage repeated', true)).seen).toEqual({ whole: HONEST })
})

test('a provider that refuses connections', async () => {
  expect((await see('refused', true)).seen).toEqual(free502)
  expect((await see('refused', false)).seen).toEqual(free502)
})

test.concurrent.each(Object.entries(STATUS_SEEN))(
  'status %s is answered with %d, free, and says nothing of the provider',
  async (status, expected) => {
    for (const stream of [true, false]) {
      const { seen, error } = await see(`status ${status}`, stream)
      expect(seen).toEqual({ status: expected })
      expect(error).not.toMatch(/example|10\.1|sk-|org-/)
      if (expected === 400) expect(error).toStartWith('no: see [removed]')
    }
  },
)

test('after all of it no hold, no work and no socket is left', nothingLeft, 20_000)
