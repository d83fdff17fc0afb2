import { type JetStreamClient, type KV, NatsError } from 'nats'
import { BusFault } from './faults.ts'

const WRONG_LAST_SEQUENCE = 10071

/** A key-value bucket whose entries live for a fixed time and are taken once. Throws `BusFault('unavailable')` while JetStream is away. */
export interface Bucket {
  put(key: string, value: Uint8Array): Promise<void>
  /** Reads and deletes in one: of any number of parallel takers, one gets the value. */
  take(key: string): Promise<Uint8Array | null>
}

/** Keys must match `[A-Za-z0-9_-]+`: check them against your own format first, since NATS rejects spaces and more. */
export function openBucket(js: JetStreamClient, name: string, ttlMs: number): Bucket {
  let opening: Promise<KV> | undefined
  const open = () => {
    opening ??= js.views.kv(name, { ttl: ttlMs, history: 1 }).catch(error => {
      opening = undefined
      throw error
    })
    return opening
  }

  async function take(key: string): Promise<Uint8Array | null> {
    const bucket = await open()
    const entry = await bucket.get(key)
    if (entry?.operation !== 'PUT') return null
    try {
      await bucket.delete(key, { previousSeq: entry.revision })
      return entry.value
    } catch (error) {
      // Another taker was first: its deletion moved the revision on.
      if (error instanceof NatsError && error.api_error?.err_code === WRONG_LAST_SEQUENCE) return null
      throw error
    }
  }

  return {
    async put(key, value) {
      await orUnavailable(
        name,
        open().then(bucket => bucket.put(key, value)),
      )
    },
    take: key => orUnavailable(name, take(key)),
  }
}

async function orUnavailable<T>(bucket: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw new BusFault('unavailable', `bucket ${bucket} did not answer`, { cause })
  }
}
