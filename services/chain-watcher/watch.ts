import type { Bus } from '@tollgate/bus'
import { paymentSeen, paymentVanished } from '@tollgate/contracts'
import type { Log } from '@tollgate/service'
import type { Chain } from './chain.ts'
import type { Examine, Examined } from './examine.ts'
import { sweep } from './scan.ts'
import { retryOf } from './sighting.ts'
import type { Store, Untold, Watched } from './store.ts'

export interface WatchOptions {
  chain: Chain
  store: Store
  bus: Bus
  log: Log
  examine: Examine
  network: string
  tokenAccount: string
  fromSlot: number
  /** Between two looks at a payment that is not final yet. */
  finalityCheckMs: number
  /** Between two tries to read what was put aside. */
  parkedRetryMs: number
}

const READ_AT_ONCE = 4
const READ_BATCH = 64
const TELL_BATCH = 64
/** A node answers about this many signatures at once. */
const FINALITY_BATCH = 256
/** A payment that no node knew, at any depth, in so many looks in a row is gone: its fork lost. */
const MISSING_LOOKS = 24
const DEEP_EVERY_MS = 5 * 60_000
const GENESIS_EVERY_MS = 30_000

/** One round of watching: list, read, look for finality, tell. Each step takes up what an earlier round left. */
export function watcher(options: WatchOptions) {
  const { chain, store, bus, log, examine, network, tokenAccount, finalityCheckMs } = options
  let deepAt = Number.NEGATIVE_INFINITY
  let genesis: { hash: string; readAt: number } | null = null

  /** A local chain may be replaced under us; it is another chain, with a cursor of its own. */
  async function watched(): Promise<Watched> {
    if (!genesis || performance.now() - genesis.readAt > GENESIS_EVERY_MS) {
      genesis = { hash: await chain.genesisHash(), readAt: performance.now() }
    }
    return { genesisHash: genesis.hash, tokenAccount }
  }

  async function list(now: Watched): Promise<void> {
    const deep = performance.now() - deepAt > DEEP_EVERY_MS
    await sweep({ chain, store, watched: now, fromSlot: options.fromSlot, deep })
    if (deep) deepAt = performance.now()
  }

  async function read(now: Watched): Promise<void> {
    for (;;) {
      const unread = await store.unread(READ_BATCH)
      await inParallel(unread, READ_AT_ONCE, async ({ signature, attempts }) => {
        await keep(now, signature, attempts, await examine(signature, 'confirmed'))
      })
      if (unread.length < READ_BATCH) return
    }
  }

  async function keep(now: Watched, signature: string, attempts: number, found: Examined): Promise<void> {
    if (found.status === 'paid') {
      await store.read(now, signature, found.payment, finalityCheckMs)
      return tellOne({ signature, kind: 'payment', payment: found.payment })
    }
    if (found.status === 'nothing') return store.read(now, signature, null, 0)
    const { state, delayMs } = retryOf(found.status, attempts, options.parkedRetryMs)
    const note = found.status === 'unreadable' ? found.reason : 'listed, but the node does not have it'
    if (state === 'parked') log.warn({ signature, note }, 'a transaction is put aside unread')
    return store.retry(signature, state, delayMs, note)
  }

  /** Payments become final, or vanish with their fork. Read once more then: a fork may have moved them. */
  async function finalize(now: Watched): Promise<void> {
    const unfinal = await store.unfinal(FINALITY_BATCH)
    if (unfinal.length === 0) return
    const depths = await chain.depths(unfinal.map(({ signature }) => signature))
    const missing = unfinal.filter(({ signature }) => !depths.has(signature))
    const lost = missing.filter(({ attempts }) => attempts >= MISSING_LOOKS)
    const final = unfinal.filter(({ signature }) => depths.get(signature) === 'finalized')
    const waiting = unfinal.filter(({ signature }) => depths.has(signature) && depths.get(signature) !== 'finalized')
    const signatures = (group: typeof unfinal) => group.map(({ signature }) => signature)
    await store.lookAgain(signatures(waiting), false, finalityCheckMs)
    await store.lookAgain(signatures(missing), true, finalityCheckMs)
    for (const { signature } of final) {
      const found = await examine(signature, 'finalized')
      // It is on the chain for good, whichever node can't give it: look again.
      if (found.status === 'absent') await store.lookAgain([signature], false, finalityCheckMs)
      else await settle(now, signature, found)
    }
    for (const { signature } of lost) await settle(now, signature, await examine(signature, 'confirmed'))
  }

  async function settle(now: Watched, signature: string, found: Examined): Promise<void> {
    if (found.status === 'paid') return store.read(now, signature, found.payment, finalityCheckMs)
    if (found.status === 'unreadable') return store.lookAgain([signature], false, finalityCheckMs)
    log.error({ signature }, 'a payment is no longer on the chain: its fork lost')
    return store.vanished(signature)
  }

  /** Publishing comes before noting it, so a crash between the two repeats the message: by its id, once. */
  async function tell(): Promise<void> {
    for (const fact of await store.untold(TELL_BATCH)) await tellOne(fact)
  }

  async function tellOne(fact: Untold): Promise<void> {
    const { signature } = fact
    if (fact.kind === 'payment') {
      const { commitment, slot, blockTimeMs } = fact.payment
      await bus.publish(paymentSeen, fact.payment, { id: `${signature}:${commitment}:${slot}:${blockTimeMs}` })
      return store.told(signature, commitment)
    }
    const vanished = { v: 1 as const, network, signature, at: Date.now() }
    await bus.publish(paymentVanished, vanished, { id: `${signature}:vanished` })
    return store.told(signature, 'vanished')
  }

  return {
    /** Keeps what a look at one transaction found, as the round would, and tells it. */
    async found(signature: string, found: Examined): Promise<void> {
      if (found.status !== 'paid') return
      await keep(await watched(), signature, 0, found)
    },
    async round(): Promise<void> {
      await tell()
      const now = await watched()
      await list(now)
      await read(now)
      await finalize(now)
      await tell()
    },
  }
}

async function inParallel<T>(items: readonly T[], lanes: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const lane = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
