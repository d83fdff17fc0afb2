import { type JetStreamClient, type KV, NatsError } from 'nats'

const WRONG_LAST_SEQUENCE = 10071

export interface Entry {
  readonly value: Uint8Array
  /** Changes with each write: whoever replaces the record names the one that it knows. */
  readonly revision: number
}

/** A key-value bucket whose records are claimed, changed by whoever knows their latest state, and live for a fixed time. */
export interface Records {
  /** The revision of the new record; null when there is one already. Of any number of parallel callers, one gets it. */
  create(key: string, value: Uint8Array): Promise<number | null>
  /** The new revision; null when somebody changed the record since `revision`. */
  replace(key: string, value: Uint8Array, revision: number): Promise<number | null>
  read(key: string): Promise<Entry | null>
  /** Without effect when somebody changed the record since `revision`. */
  remove(key: string, revision: number): Promise<void>
}

/** Keys must match `[A-Za-z0-9_.-]+`; values stay below the 1 MB of a message. Throws the client's `NatsError` when it can't be asked. */
export function openRecords(js: JetStreamClient, name: string, ttlMs: number): Records {
  let opening: Promise<KV> | undefined
  const open = () => {
    opening ??= js.views.kv(name, { ttl: ttlMs, history: 1 }).catch(error => {
      opening = undefined
      throw error
    })
    return opening
  }
  const unlessChanged = (write: Promise<number>) =>
    write.catch(error => {
      if (error instanceof NatsError && error.api_error?.err_code === WRONG_LAST_SEQUENCE) return null
      throw error
    })

  return {
    create: async (key, value) => unlessChanged((await open()).create(key, value)),
    replace: async (key, value, revision) => unlessChanged((await open()).update(key, value, revision)),
    async read(key) {
      const entry = await (await open()).get(key)
      return entry?.operation === 'PUT' ? { value: entry.value, revision: entry.revision } : null
    },
    async remove(key, revision) {
      const bucket = await open()
      await unlessChanged(bucket.delete(key, { previousSeq: revision }).then(() => 0))
    },
  }
}
