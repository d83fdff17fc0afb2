import type { Chain, Listed } from './chain.ts'
import { PAGE_LIMIT } from './chain.ts'
import type { Store, Watched } from './store.ts'

/** How far below the cursor a look begins: nodes list late and out of order inside and around a slot. */
const OVERLAP_SLOTS = 300
/** Now and then much further: holes in a node's index have lasted for hours (research: payments, 3). */
const DEEP_OVERLAP_SLOTS = 40_000

export interface SweepOptions {
  chain: Chain
  store: Store
  watched: Watched
  /** First slot of interest when there is no cursor. */
  fromSlot: number
  deep: boolean
}

/**
 * Lists the token account's transactions from now back to the cursor and some way beyond, notes those that did not fail,
 * and moves the cursor when the list reached it. What was noted twice is noted once. Answers how many it listed.
 */
export async function sweep({ chain, store, watched, fromSlot, deep }: SweepOptions): Promise<number> {
  const cursor = await store.cursor(watched)
  const floor = cursor === null ? fromSlot : cursor - (deep ? DEEP_OVERLAP_SLOTS : OVERLAP_SLOTS)
  let before: string | null = null
  let newest = -1
  let oldest = Number.POSITIVE_INFINITY
  let count = 0
  for (;;) {
    const page: Listed[] = await chain.signatures(watched.tokenAccount, before)
    const last = page.at(-1)
    await store.list(
      watched,
      page.filter(({ failed, slot }) => !failed && slot >= floor),
    )
    count += page.length
    newest = Math.max(newest, ...page.map(({ slot }) => slot))
    oldest = Math.min(oldest, ...page.map(({ slot }) => slot))
    // A node whose pages go round in circles must not hold us here.
    if (!last || last.signature === before || page.length < PAGE_LIMIT || last.slot < floor) break
    before = last.signature
  }
  // A list that ends above the cursor has a hole (another node, a pruned index): keep the cursor and look again.
  const reached = cursor === null || oldest <= cursor
  if (reached && newest > (cursor ?? -1)) await store.moveCursor(watched, newest)
  return count
}
