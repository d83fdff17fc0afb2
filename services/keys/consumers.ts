import type { KeyId, KeysUsed, WireOf } from '@tollgate/contracts'
import type { Log } from '@tollgate/service'
import type { Store } from './store.ts'

export interface LastUsed {
  /** `keys.used`: remembers the latest use of each key. */
  hear(report: WireOf<typeof KeysUsed>): void
  /** Writes what was heard; after a failure it is kept for the next time. */
  flush(): Promise<void>
  /** Writes the last of it and stops. */
  close(): Promise<void>
}

const FLUSH_EVERY_MS = 2_000
/** Beyond this many keys between two writes, uses of further keys are forgotten: a hint, and memory has an end. */
const PENDING_MAX = 20_000
const STATEMENT_KEYS_MAX = 2_000

/** `lastUsedAt` costs a request nothing: uses gather here and are written together. */
export function lastUsed(store: Pick<Store, 'markUsed'>, log: Log): LastUsed {
  const pending = new Map<KeyId, number>()
  let flushing = Promise.resolve()

  function remember(key: KeyId, at: number): void {
    const known = pending.get(key)
    if (known === undefined && pending.size >= PENDING_MAX) return
    if (known === undefined || known < at) pending.set(key, at)
  }

  async function writeOne(): Promise<void> {
    const batch = new Map([...pending].slice(0, STATEMENT_KEYS_MAX))
    for (const key of batch.keys()) pending.delete(key)
    try {
      await store.markUsed(batch)
    } catch (err) {
      for (const [key, at] of batch) remember(key, at)
      throw err
    }
  }

  async function write(): Promise<void> {
    try {
      for (let left = Math.ceil(pending.size / STATEMENT_KEYS_MAX); left > 0; left--) await writeOne()
    } catch (err) {
      log.warn({ err, keys: pending.size }, 'last uses are not written yet')
    }
  }

  /** One write at a time: a slow database must not gather them. */
  function flush(): Promise<void> {
    flushing = flushing.then(write)
    return flushing
  }

  const timer = setInterval(flush, FLUSH_EVERY_MS)
  return {
    hear({ used }) {
      for (const { key, at } of used) remember(key, at)
    },
    flush,
    close() {
      clearInterval(timer)
      return flush()
    },
  }
}
