import type { Log } from '@tollgate/service'
import type { Gate } from './gate.ts'
import type { Gates } from './limits.ts'

const RETRY_AFTER_MS = 50
/** A minute; then the next reconnect, or the next call that finds the stream gone, tries again. */
const ATTEMPTS_MAX = 1_200

/**
 * Sees to it that every limit's stream exists. Memory streams vanish when nats-server restarts, so this runs at the start and
 * at every reconnect; JetStream answers a moment after the connection does.
 */
export function limitKeeper(gates: Gates, log: Log): () => void {
  let round = 0
  return () => {
    const mine = ++round
    for (const [name, gate] of Object.entries(gates)) void ensure(name, gate, () => mine === round, log)
  }
}

async function ensure(name: string, gate: Gate, isCurrent: () => boolean, log: Log): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX && isCurrent(); attempt++) {
    try {
      return await gate.ensure()
    } catch (err) {
      if (attempt % 20 === 0) log.warn({ err, limit: name }, 'a limit has no stream yet')
      await Bun.sleep(RETRY_AFTER_MS)
    }
  }
}
