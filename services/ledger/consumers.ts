import { BusFault, codecOf, type Delivery, fromBytes, type Verdict } from '@tollgate/bus'
import { ledger } from '@tollgate/contracts'
import type { Batcher } from './batcher.ts'
import type { Operation } from './operation.ts'

/** The durable's name on SETTLEMENTS, as the permissions have it: all ledgers share its messages. */
export const SETTLEMENTS_DURABLE = 'ledger'
/** Above the batcher's patience: a message in work is not handed to another ledger, and a dead one's soon are. */
export const SETTLEMENTS_ACK_WAIT_MS = 6_000
/** In work at once, so that a queue that grew while the ledger was away is drained in whole batches. */
export const SETTLEMENTS_CONCURRENCY = 256

const RETRY_AFTER_MS = 500

/**
 * Settlements and releases that waited while the ledger was away: the requests of the contract, as they would have been asked.
 * Acknowledged when the answer is durable, and a refusal is an answer; the operation's id makes redelivery harmless.
 */
export function settlements(batcher: Batcher): (delivery: Delivery) => Promise<Verdict> {
  return async ({ data }) => {
    let operation: Operation
    try {
      operation = operationFrom(fromBytes(data))
    } catch (fault) {
      return { terminal: fault instanceof Error ? fault.message : 'unreadable' }
    }
    try {
      await batcher.submit(operation)
      return 'done'
    } catch (fault) {
      if (fault instanceof BusFault && fault.kind === 'unavailable') return { retryAfterMs: RETRY_AFTER_MS }
      throw fault
    }
  }
}

function operationFrom(wire: unknown): Operation<'settle' | 'release'> {
  const isRelease = typeof wire === 'object' && wire !== null && 'id' in wire && String(wire.id).startsWith('release:')
  return isRelease
    ? { kind: 'release', ...codecOf(ledger.release.request).fromWire(wire) }
    : { kind: 'settle', ...codecOf(ledger.settle.request).fromWire(wire) }
}
