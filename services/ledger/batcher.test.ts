import { expect, test } from 'bun:test'
import { BusFault } from '@tollgate/bus'
import { newId } from '@tollgate/contracts'
import { DatabaseUnavailable } from '@tollgate/db'
import { BATCH_MAX, createBatcher } from './batcher.ts'
import type { Operation, Outcome, Prepared } from './operation.ts'
import { credit, hold } from './test/requests.ts'

const account = newId('account')
const done = (amountMicro: bigint): Outcome => ({
  outcome: 'done',
  amountMicro,
  shortfallMicro: 0n,
  availableMicro: 0n,
})
const amountOf = (operation: Operation) => ('amountMicro' in operation ? operation.amountMicro : 0n)

/** Stands for Postgres: says what it was asked and, on request, how it fails. */
function recorder(fail: (batch: readonly Operation[], attempt: number) => Error | null = () => null) {
  const batches: (readonly Operation[])[] = []
  return {
    batches,
    apply: async (prepared: readonly Prepared[]) => {
      const batch = prepared.map(({ operation }) => operation)
      batches.push(batch)
      await Promise.resolve()
      const fault = fail(batch, batches.length)
      if (fault) throw fault
      return batch.map(operation => done(amountOf(operation)))
    },
  }
}

test('what arrives while a batch is under way is the next batch, in its order, up to the most', async () => {
  const { batches, apply } = recorder()
  const batcher = createBatcher({ apply })
  const asked = Array.from({ length: BATCH_MAX + 10 }, (_, n) => credit(account, BigInt(n)))
  const outcomes = await Promise.all(asked.map(batcher.submit))
  expect(batches.map(batch => batch.length)).toEqual([BATCH_MAX, 10])
  expect(batches.flat()).toEqual(asked)
  expect(outcomes.map(({ amountMicro }) => amountMicro)).toEqual(asked.map(amountOf))
})

test('free lanes divide what waits, and leave a small batch whole', async () => {
  const sizesOf = async (operations: number) => {
    const { batches, apply } = recorder()
    const slowly = (batch: readonly Prepared[]) => Bun.sleep(1).then(() => apply(batch))
    const batcher = createBatcher({ apply: slowly, lanes: 2 })
    await Promise.all(Array.from({ length: operations }, () => batcher.submit(hold(account, 1n))))
    return batches.map(batch => batch.length)
  }
  expect(await sizesOf(100)).toEqual([100])
  expect(await sizesOf(200)).toEqual([128, 72])
  expect(await sizesOf(300)).toEqual([150, 150])
  expect(await sizesOf(600)).toEqual([256, 256, 88])
})

test('the same question asked twice is decided once; another one under its id comes after it', async () => {
  const { batches, apply } = recorder()
  const batcher = createBatcher({ apply })
  const one = credit(account, 5n)
  await Promise.all([one, { ...one }, { ...one, amountMicro: 6n }].map(batcher.submit))
  expect(batches).toEqual([[one], [{ ...one, amountMicro: 6n }]])
})

test('an operation that breaks its batch is found, and breaks nobody else', async () => {
  const asked = Array.from({ length: 37 }, () => hold(account, 1n))
  const [poison] = asked.slice(23)
  const { apply } = recorder(batch => (poison && batch.includes(poison) ? new Error('out of range') : null))
  const answers = await Promise.allSettled(asked.map(createBatcher({ apply }).submit))
  expect(answers.map(({ status }) => status)).toEqual(asked.map(one => (one === poison ? 'rejected' : 'fulfilled')))
  expect(answers[23]).toMatchObject({ reason: new BusFault('internal', 'the operation has no answer') })
})

test('a batch whose outcome is unknown is asked again whole, with the same ids', async () => {
  const { batches, apply } = recorder((_, attempt) => (attempt < 3 ? new DatabaseUnavailable('gone') : null))
  const asked = [hold(account, 1n), hold(account, 2n)]
  await Promise.all(asked.map(createBatcher({ apply }).submit))
  expect(batches).toEqual([asked, asked, asked])
})

test('while Postgres is away, callers hear that they should ask again before they stop listening', async () => {
  const { apply } = recorder(() => new DatabaseUnavailable('gone'))
  const batcher = createBatcher({ apply })
  const started = performance.now()
  await expect(batcher.submit(hold(account, 1n))).rejects.toMatchObject({ kind: 'unavailable' })
  expect(performance.now() - started).toBeLessThan(4_500)
  expect(batcher.depth).toBe(0)
})
