import { expect, test } from 'bun:test'
import { BusFault, codecOf, toBytes } from '@tollgate/bus'
import { ledger, newId } from '@tollgate/contracts'
import { settlements } from './consumers.ts'
import type { Operation, Outcome } from './operation.ts'
import { hold, settle } from './test/requests.ts'

const { kind: _, ...request } = settle(hold(newId('account'), 10n), 7n)
const delivery = (wire: unknown) => ({ subject: 'settlements.0', data: toBytes(wire), deliveries: 1 })
const settlement = delivery(codecOf(ledger.settle.request).toWire(request))
const refused: Outcome = { outcome: 'hold_closed', amountMicro: 0n, shortfallMicro: 0n, availableMicro: 0n }

/** A batcher whose answer the test gives. */
function waitingBatcher() {
  const answer = Promise.withResolvers<Outcome>()
  const asked: Operation[] = []
  const submit = (operation: Operation) => {
    asked.push(operation)
    return answer.promise
  }
  return { answer, asked, consume: settlements({ submit, depth: 0, drain: async () => undefined }) }
}

test('a settlement leaves the queue when its answer is durable, and not before; a refusal is an answer', async () => {
  const { answer, asked, consume } = waitingBatcher()
  const verdict = consume(settlement)
  expect(await Promise.race([verdict, Bun.sleep(20).then(() => 'in work')])).toBe('in work')
  answer.resolve(refused)
  expect(await verdict).toBe('done')
  expect(asked).toEqual([{ kind: 'settle', ...request }])
})

test('while Postgres is away a settlement stays in the queue', async () => {
  const { answer, consume } = waitingBatcher()
  const verdict = consume(settlement)
  answer.reject(new BusFault('unavailable', 'away'))
  expect(await verdict).toEqual({ retryAfterMs: 500 })
})

test('one that can not be done now is tried again; one that nobody can read is put away', async () => {
  const { answer, consume } = waitingBatcher()
  const verdict = consume(settlement)
  answer.reject(new BusFault('internal', 'out of range'))
  await expect(verdict).rejects.toThrow('out of range')
  expect(await consume(delivery({ not: 'a settlement' }))).toMatchObject({ terminal: expect.any(String) })
})
