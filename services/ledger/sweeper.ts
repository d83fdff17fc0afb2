import type { Batcher } from './batcher.ts'
import { expiryOf } from './operation.ts'
import type { Store } from './store.ts'

/** With the lease of the duty, what a hold may outlive its expiry by. */
export const SWEEP_EVERY_MS = 1_000
const SWEEP_MAX = 256

/**
 * Expires the holds that nobody extends any more: the caller died, or its settlement is still on its way. They are looked up
 * without a lock and go the way of every operation, where it is decided under the locks whether they are due: a hold that
 * was settled or extended meanwhile is skipped, and two ledgers that sweep at once expire each hold once.
 */
export function sweep(store: Pick<Store, 'due'>, batcher: Batcher): () => Promise<boolean> {
  return async () => {
    const due = await store.due(SWEEP_MAX)
    const outcomes = await Promise.allSettled(due.map(({ id, account }) => batcher.submit(expiryOf(id, account))))
    // Again at once only when all went well: what can't be expired must not spin.
    return due.length === SWEEP_MAX && outcomes.every(({ status }) => status === 'fulfilled')
  }
}
