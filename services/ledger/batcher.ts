import { BusFault } from '@tollgate/bus'
import { DatabaseUnavailable } from '@tollgate/db'
import { type Operation, type Outcome, type Prepared, prepare } from './operation.ts'

/** Operations in one statement at most. Beyond this a batch takes longer without doing more per second. */
export const BATCH_MAX = 256
/** What a lane takes though others are free: a batch itself costs Postgres as much as a dozen operations. */
const SHARE_MIN = 128
/** Waiting operations at most, some seconds of full load: more would be given up by their callers before their turn. */
const WAITING_MAX = 20_000
/** Below the 5 s that callers wait: later nobody listens, and they ask again with the same id. */
const PATIENCE_MS = 4_000
const RETRY_WAIT_MS = { first: 20, most: 200 } as const

export interface BatcherOptions {
  /** Decides a batch whole, or throws and has decided nothing, or (`DatabaseUnavailable`) it is not known which. */
  apply(batch: readonly Prepared[]): Promise<Outcome[]>
  /** Batches under way at once; each needs a connection of its own. */
  lanes?: number
  onFault?(fault: unknown, batch: readonly Prepared[]): void
}

export interface Batcher {
  /** Throws `BusFault`: `unavailable` when it is not known whether it happened, `internal` when it can't be done. */
  submit(operation: Operation): Promise<Outcome>
  /** Operations that wait or are under way. */
  readonly depth: number
  /** Ends when nothing is left. */
  drain(): Promise<void>
}

interface Waiting extends Prepared {
  since: number
  promise: Promise<Outcome>
  resolve(outcome: Outcome): void
  reject(fault: unknown): void
}

/**
 * Turns operations into batches: a free lane takes what waits, at once and without a timer, so that a lone operation waits
 * for nobody and under load each batch holds what arrived during the one before. The same question twice is asked once.
 */
export function createBatcher({ apply, lanes = 1, onFault }: BatcherOptions): Batcher {
  const waiting: Waiting[] = []
  /** By id: what waits or is under way. */
  const known = new Map<string, Waiting>()
  /** Lanes that have begun, and those of them whose batch is under way. */
  let busy = 0
  let working = 0
  let underWay = 0
  let idle: PromiseWithResolvers<void> | undefined

  async function submit(operation: Operation): Promise<Outcome> {
    const prepared = prepare(operation)
    const { id, content } = prepared
    for (let twin = known.get(id ?? ''); twin; twin = known.get(id ?? '')) {
      if (twin.content === content) return twin.promise
      // Another question under the same id: after the first, so that the ids of a batch are distinct.
      await twin.promise.catch(() => undefined)
    }
    if (waiting.length >= WAITING_MAX) throw new BusFault('unavailable', 'too many operations wait')
    const item = { ...prepared, since: performance.now(), ...Promise.withResolvers<Outcome>() }
    if (id !== null) known.set(id, item)
    waiting.push(item)
    if (busy < lanes) {
      busy++
      // After this turn: the questions of one message are handed over one by one.
      setImmediate(lane)
    }
    return item.promise
  }

  /** Free lanes divide what waits: while Postgres decides one part, the other is answered, and asks again. */
  function share(): number {
    return Math.min(BATCH_MAX, Math.max(SHARE_MIN, Math.ceil(waiting.length / (lanes - working))))
  }

  /** Works until nothing waits. */
  async function lane(): Promise<void> {
    for (let batch = waiting.splice(0, share()); batch.length > 0; batch = waiting.splice(0, share())) {
      underWay += batch.length
      working++
      await settle(batch)
      working--
      underWay -= batch.length
    }
    busy--
    if (busy === 0) idle?.resolve()
  }

  /** Gives every operation its answer. One that breaks its batch is found by halving, and breaks nobody else. */
  async function settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await persistently(batch, batch[0]?.since ?? 0)
      batch.forEach((item, index) => {
        const outcome = outcomes[index]
        if (item.id !== null) known.delete(item.id)
        if (outcome) item.resolve(outcome)
        else item.reject(new BusFault('internal', 'the batch was answered in part'))
      })
    } catch (fault) {
      onFault?.(fault, batch)
      const lost = fault instanceof DatabaseUnavailable
      if (batch.length > 1 && !lost) {
        const half = batch.length >> 1
        await settle(batch.slice(0, half))
        await settle(batch.slice(half))
        return
      }
      for (const item of batch) {
        if (item.id !== null) known.delete(item.id)
        item.reject(new BusFault(lost ? 'unavailable' : 'internal', 'the operation has no answer', { cause: fault }))
      }
    }
  }

  /** The whole batch again, with the same ids, for as long as its outcome is unknown and somebody may still listen. */
  async function persistently(batch: readonly Prepared[], since: number): Promise<Outcome[]> {
    for (let waitMs: number = RETRY_WAIT_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_WAIT_MS.most)) {
      try {
        return await apply(batch)
      } catch (fault) {
        const spent = performance.now() - since
        if (!(fault instanceof DatabaseUnavailable) || spent + waitMs > PATIENCE_MS) throw fault
        await Bun.sleep(waitMs)
      }
    }
  }

  return {
    submit,
    get depth() {
      return waiting.length + underWay
    },
    async drain() {
      if (busy === 0) return
      idle ??= Promise.withResolvers<void>()
      await idle.promise
    },
  }
}
