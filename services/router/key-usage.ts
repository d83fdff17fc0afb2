import type { Bus } from '@tollgate/bus'
import { KEY_USED_SUBJECT, type KeyId, KeysUsed } from '@tollgate/contracts'

export interface KeyUsage {
  used(key: KeyId, atMs: number): void
  flush(): void
  stop(): void
}

/** Often enough for "last used a moment ago", seldom enough to cost nothing. */
const REPORT_EVERY_MS = 3_000
/** What one report may carry (contracts, `KeysUsed`). */
const REPORT_KEYS_MAX = 1_000
/** Remembered while NATS is away; more are forgotten, which the contract allows. */
const WAITING_MAX = 100_000

/** Remembers which keys were used and tells the keys service every few seconds. A report that is lost is harmless. */
export function createKeyUsage(bus: Pick<Bus, 'connected' | 'notify'>): KeyUsage {
  const waiting = new Map<KeyId, number>()

  function flush(): void {
    if (!bus.connected) return
    const used = Array.from(waiting, ([key, at]) => ({ key, at }))
    waiting.clear()
    for (let start = 0; start < used.length; start += REPORT_KEYS_MAX) {
      bus.notify(KEY_USED_SUBJECT, KeysUsed, { used: used.slice(start, start + REPORT_KEYS_MAX) })
    }
  }

  const timer = setInterval(flush, REPORT_EVERY_MS)
  return {
    used(key, atMs) {
      if (waiting.size < WAITING_MAX || waiting.has(key)) waiting.set(key, atMs)
    },
    flush,
    stop() {
      clearInterval(timer)
      flush()
    },
  }
}
