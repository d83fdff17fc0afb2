import { afterAll, beforeAll, expect, test } from 'bun:test'
import { answers, errorText, type RawUpstream, refusingUrl, startRaw } from '@tollgate/upstream'
import { leave, settled } from './test/leaving.ts'
import { type Rig, startRig } from './test/rig.ts'

const CREDIT = 1_000_000n
const ABANDONED_MS = 500
let raw: RawUpstream
let rig: Rig
beforeAll(async () => {
  raw = await startRaw(async wire => {
    if (JSON.parse(wire.body).model === 'silent') return await Bun.sleep(5_000)
    await Bun.sleep(300)
    await answers(500, errorText('no'))(wire)
  })
  const urls = [raw.url]
  rig = await startRig(
    { silent: { urls }, failing: { urls }, gone: { urls: [refusingUrl()] } },
    { ABANDONED_MS: String(ABANDONED_MS), LOG_LEVEL: 'silent' },
  )
}, 30_000)
afterAll(async () => {
  await rig?.stop()
  await raw?.stop()
})

test('who leaves a stream before it begins is not waited for long, and pays for the prompt that was sent', async () => {
  const caller = await rig.account(CREDIT)
  const start = performance.now()
  await leave(rig, caller, { model: 'silent', stream: true }, 100)
  await settled(rig)
  expect(performance.now() - start).toBeLessThan(ABANDONED_MS + 2_000)
  const [entry] = (await rig.history(caller.acct)).entries
  expect(entry).toMatchObject({ kind: 'settle', amountMicro: -8n })
  expect(entry?.detail).toMatchObject({ outcome: 'aborted', estimated: true, promptTokens: 8, completionTokens: 0 })
  expect(await rig.balance(caller.acct)).toMatchObject({ availableMicro: CREDIT - 8n, heldMicro: 0n })
})

test.each(['failing', 'gone'])('who leaves a provider that fails pays nothing (%s)', async model => {
  const caller = await rig.account(CREDIT)
  await leave(rig, caller, { model, stream: true }, 100).catch(() => undefined)
  await settled(rig)
  expect(await rig.balance(caller.acct)).toMatchObject({ availableMicro: CREDIT, heldMicro: 0n })
})
