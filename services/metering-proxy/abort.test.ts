import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createConnection } from 'node:net'
import { IDENTITY_HEADER } from '@tollgate/contracts'
import { eventually } from '@tollgate/testing'
import { answers, completionText, type RawUpstream, startRaw, startUpstream, streams } from '@tollgate/upstream'
import { leave, leaveInRounds, settled } from './test/leaving.ts'
import { type Caller, type Rig, startRig } from './test/rig.ts'

const CREDIT = 100_000_000n
/** 8 prompt and 20 completion tokens. */
const FULL = 8n + 2n * 20n
let requests = 0
const upstream = startUpstream({ tokens: 20, intervalMs: 5, observe: () => requests++ })
let raw: RawUpstream
let rig: Rig
beforeAll(async () => {
  raw = await startRaw(async wire => {
    const { model } = JSON.parse(wire.body)
    if (model === 'hanging') await streams({ usages: [], finish: false, done: false, end: 'hang' })(wire)
    if (model === 'slow') {
      await Bun.sleep(400)
      await answers(200, completionText())(wire)
    }
  })
  const raws = { hanging: { urls: [raw.url] }, slow: { urls: [raw.url] } }
  rig = await startRig({ small: { urls: [upstream.url] }, ...raws }, { ABANDONED_MS: '500', LOG_LEVEL: 'silent' })
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await Promise.all([raw?.stop(), upstream.stop()])
})

test('a stream that its caller left is read on to its usage, which is charged', async () => {
  const caller = await rig.account(CREDIT)
  await leave(rig, caller, { model: 'small', stream: true }, 'at the first bytes')
  await settled(rig)
  expect(await rig.balance(caller.acct)).toMatchObject({ availableMicro: CREDIT - FULL, heldMicro: 0n })
  const [entry] = (await rig.history(caller.acct)).entries
  expect(entry?.detail).toMatchObject({ outcome: 'aborted', estimated: false, completionTokens: 20 })
})

test('a stream that never comes to its usage is cut in bounded time, and what was said is counted', async () => {
  const caller = await rig.account(CREDIT)
  await leave(rig, caller, { model: 'hanging', stream: true }, 'at the first bytes')
  await settled(rig)
  const [entry] = (await rig.history(caller.acct)).entries
  expect(entry?.detail).toMatchObject({ outcome: 'aborted', estimated: true, promptTokens: 8, completionTokens: 3 })
  expect(await rig.balance(caller.acct)).toMatchObject({ availableMicro: CREDIT - 14n, heldMicro: 0n })
  await eventually(() => raw.openSockets === 0)
})

test('a whole answer whose caller left is waited for and charged as reported', async () => {
  const caller = await rig.account(CREDIT)
  await leave(rig, caller, { model: 'slow' }, 100)
  await settled(rig)
  expect(await rig.balance(caller.acct)).toMatchObject({ availableMicro: CREDIT - 16n, heldMicro: 0n })
})

test('500 callers who leave at any moment leave no hold, no work, no descriptor, and each provider request is charged once', async () => {
  const caller = await rig.account(CREDIT)
  await leave(rig, caller, { model: 'small', stream: true }, 'at the first bytes')
  await settled(rig)
  const [before, descriptors, spent] = [requests, await rig.gauge('process_open_fds'), await rig.balance(caller.acct)]
  await leaveInRounds(rig, caller, { rounds: 10, atOnce: 50 })
  await settled(rig)
  const { availableMicro, heldMicro } = await rig.balance(caller.acct)
  expect(heldMicro).toBe(0n)
  expect(requests - before).toBeGreaterThan(400)
  expect(spent.availableMicro - availableMicro).toBe(FULL * BigInt(requests - before))
  // Idle connections to the provider are kept for the next requests: Bun keeps 64.
  if (!Number.isNaN(descriptors)) {
    await eventually(async () => (await rig.gauge('process_open_fds')) <= descriptors + 70, { withinMs: 10_000 })
  }
}, 60_000)

/** Over a socket of its own: `fetch` would send 256 at once, here as in the proxy. */
async function streamOverSocket(caller: Caller): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const { hostname, port } = new URL(rig.url)
  const socket = createConnection({ host: hostname, port: Number(port) })
  let text = ''
  socket.on('data', bytes => {
    text += bytes
  })
  socket.on('end', () => resolve(text)).on('error', reject)
  const messages = [{ role: 'user', content: 'Tell.' }]
  const body = JSON.stringify({ model: 'small', stream: true, max_tokens: 20, messages, sim: { intervalMs: 150 } })
  const headers = `host: proxy\r\nconnection: close\r\n${IDENTITY_HEADER}: ${rig.identity(caller)}\r\ncontent-length: ${body.length}`
  socket.write(`POST /v1/chat/completions HTTP/1.1\r\n${headers}\r\n\r\n${body}`)
  return promise
}

test('600 streams at once are all served whole: more than Bun sends at once by default', async () => {
  const caller = await rig.account(CREDIT)
  const texts = Promise.all(Array.from({ length: 600 }, () => streamOverSocket(caller)))
  await eventually(async () => (await rig.gauge('tollgate_completions_in_work')) === 600)
  expect((await texts).filter(text => !text.includes('data: [DONE]'))).toEqual([])
  await settled(rig)
  expect(await rig.balance(caller.acct)).toMatchObject({ heldMicro: 0n, availableMicro: CREDIT - 600n * FULL })
}, 30_000)
