/** When to try again to read a transaction that a node listed, by how often it was tried. */
export interface Retry {
  state: 'listed' | 'parked'
  delayMs: number
}

const FIRST_MS = 200
const LISTED_MOST_MS = 30_000
/** A node that lists a transaction gives it within seconds; after this many tries (some minutes) it is put aside. */
const LISTED_TRIES = 20
/** What can't be read now can rarely be read a moment later, but another node may be asked then. */
const UNREADABLE_TRIES = 3

/**
 * `absent`: the node does not have it yet. `unreadable`: it has, and we can't read it. What is put aside is tried every
 * `parkedMs` for as long as it exists: a node, or a release of ours, may learn to read it.
 */
export function retryOf(reason: 'absent' | 'unreadable', attempts: number, parkedMs: number): Retry {
  const tries = reason === 'absent' ? LISTED_TRIES : UNREADABLE_TRIES
  if (attempts >= tries) return { state: 'parked', delayMs: parkedMs }
  return { state: 'listed', delayMs: Math.min(FIRST_MS * 2 ** Math.min(attempts, 10), LISTED_MOST_MS) }
}
