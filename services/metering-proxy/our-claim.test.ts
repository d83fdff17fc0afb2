import { expect, test } from 'bun:test'
import type { Records } from '@tollgate/bus'
import { newId } from '@tollgate/contracts'
import { createLog } from '@tollgate/service'
import { eventually } from '@tollgate/testing'
import { type Claim, keptFor } from './kept.ts'
import { keepAlive } from './our-claim.ts'
import { sealFor } from './sealing.ts'

/** Records of which every other replacement is written, and its acknowledgement lost. */
function forgetfulRecords(): Records & { revision: number } {
  const values = new Map<string, { value: Uint8Array; revision: number }>()
  let replaced = 0
  const write = (key: string, value: Uint8Array) => {
    values.set(key, { value, revision: ++records.revision })
    return records.revision
  }
  const records = {
    revision: 0,
    create: async (key: string, value: Uint8Array) => (values.has(key) ? null : write(key, value)),
    async replace(key: string, value: Uint8Array, revision: number) {
      if (values.get(key)?.revision !== revision) return null
      const written = write(key, value)
      if (replaced++ % 2 === 0) throw new Error('the acknowledgement was lost')
      return written
    },
    read: async (key: string) => values.get(key) ?? null,
    async remove(key: string) {
      values.delete(key)
    },
  }
  return records
}

async function claimed() {
  const records = forgetfulRecords()
  const repeat = { account: newId('account'), apiKey: null, idempotencyKey: 'one' }
  const kept = keptFor(records, sealFor(repeat, ['a secret']))
  const claim: Claim = { v: 1, state: 'running', fingerprint: '', owner: newId('request'), contentType: '', parts: 0 }
  const revision = (await kept.claim(claim)) ?? 0
  return { records, kept, claim, revision, log: createLog('test', 'silent') }
}

test('a claim whose beats lose their acknowledgement beats on, and is kept at its end', async () => {
  const { records, ...own } = await claimed()
  const ours = keepAlive(own)
  await eventually(() => records.revision >= 4, { withinMs: 10_000 })
  await ours.keep('text/plain', Buffer.from('answer'))
  expect(await own.kept.known()).toMatchObject({ owner: own.claim.owner, state: 'done' })
}, 15_000)

test('a claim that another has taken over is given up', async () => {
  const { records, ...own } = await claimed()
  const ours = keepAlive(own)
  await own.kept.change({ ...own.claim, owner: 'another' }, own.revision).catch(() => undefined)
  await ours.keep('text/plain', Buffer.from('answer'))
  expect(await own.kept.known()).toMatchObject({ owner: 'another', state: 'running' })
})
