import { randomUUID } from 'node:crypto'
import type { Store } from './store.ts'

/** Work that one of several ledgers does at a time, to spare the others the trouble. Nothing breaks when two do it. */
export type DutyName = 'relay' | 'sweep' | 'audit'

/** After its holder died, a duty rests this long: part of the bound on how long a dead request's money stays held. */
export const LEASE_MS = 3_000

const holder = randomUUID()

/**
 * A round that is done while this ledger holds the duty, and skipped while another does. The lease is renewed when half of it
 * is over. `begin` is called whenever the duty comes to this ledger, with how far it got.
 */
export function onDuty(
  store: Pick<Store, 'claim'>,
  name: DutyName,
  round: () => Promise<boolean | undefined>,
  begin: (progress: bigint) => void = () => undefined,
): () => Promise<boolean | undefined> {
  let heldUntil = 0

  return async () => {
    const now = performance.now()
    if (heldUntil - now < LEASE_MS / 2) {
      const progress = await store.claim(name, holder, LEASE_MS)
      if (progress === null) return undefined
      if (heldUntil < now) begin(progress)
      heldUntil = now + LEASE_MS
    }
    return round()
  }
}
