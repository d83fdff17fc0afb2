import { EVENTS_STREAM } from '@tollgate/contracts'
import { type Log, type Repeating, repeat } from '@tollgate/service'
import type { Oracle } from './oracle/oracle.ts'
import type { Settler } from './settle.ts'
import type { Store } from './store.ts'
import type { UsageStore } from './usage/store.ts'

/** Younger work is somebody's who is at it. */
const LEFT_BEHIND_MS = 1_000
const BATCH = 50
/** Well inside the window of the jump rule. */
const PRICE_EVERY_MS = 60_000
const FORGET_EVERY_MS = 60 * 60_000
/** Longer than events live, so that no event can come again after its id was forgotten. */
const FORGET_OLDER_THAN_MS = 2 * EVENTS_STREAM.maxAgeMs

export interface SweepOptions {
  store: Store
  settler: Settler
  usage: UsageStore
  oracle: Oracle
  log: Log
  everyMs: number
}

/** What is done again and again: work left behind is taken up, and what is no longer needed forgotten. */
export function startSweeps({ store, settler, usage, oracle, log, everyMs }: SweepOptions): Repeating[] {
  const onFault = (err: unknown) => log.warn({ err }, 'a sweep failed; the next one follows')
  return [
    repeat(() => takeUp({ store, settler, log }), { everyMs, onFault }),
    repeat(() => usage.forget(FORGET_OLDER_THAN_MS), { everyMs: FORGET_EVERY_MS, onFault }),
    repeat(() => oracle.refresh(), { everyMs: PRICE_EVERY_MS, onFault }),
  ]
}

/** Intents that somebody died over, or whose ledger was away: their next step is taken again. */
async function takeUp({ store, settler, log }: Pick<SweepOptions, 'store' | 'settler' | 'log'>): Promise<void> {
  for (const intentId of await store.leftBehind(LEFT_BEHIND_MS, BATCH)) {
    try {
      await settler.settle(intentId)
    } catch (err) {
      // One that can't go on must not hold up the others; it is tried again.
      log.warn({ err, intent: intentId }, 'a settlement could not be finished yet')
    }
  }
}
