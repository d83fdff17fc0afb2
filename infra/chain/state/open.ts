import { Chain } from './chain.ts'
import { furnish, genesisAccounts, newGenesis } from './genesis.ts'
import { discard, FileJournal, type JournalEntry, MemoryJournal, storeAccount } from './journal.ts'
import { SlotClock } from './slot-clock.ts'

/** Continues the chain kept in `stateDir`, or starts one. Without a directory the chain lives in memory only. */
export function openChain(options: { stateDir: string | null; slotMs: number }): Chain {
  const existing = options.stateDir === null ? null : FileJournal.open(options.stateDir)
  return existing === null ? startChain(options) : resumeChain({ ...existing, slotMs: options.slotMs })
}

function resumeChain({
  journal,
  entries,
  slotMs,
}: {
  journal: FileJournal
  entries: JournalEntry[]
  slotMs: number
}): Chain {
  const [first] = entries
  const last = entries.at(-1)
  if (first?.kind !== 'genesis' || first.v !== 1 || last === undefined) {
    throw new Error('The journal was written by another version of this chain; remove its directory to start a new one')
  }
  const chain = new Chain({ genesis: first.genesis, clock: new SlotClock({ slotMs, resume: last.clock }), journal })
  chain.restore(entries)
  return chain
}

function startChain({ stateDir, slotMs }: { stateDir: string | null; slotMs: number }): Chain {
  const genesis = newGenesis()
  const clock = new SlotClock({ slotMs })
  const journal = new MemoryJournal()
  const accounts = genesisAccounts(genesis).map(storeAccount)
  journal.append({ kind: 'genesis', v: 1, genesis, accounts, clock: clock.state() })
  const chain = new Chain({ genesis, clock, journal })
  chain.restore(journal.entries)
  furnish(chain)
  chain.continueIn(stateDir === null ? discard : FileJournal.create(stateDir, journal.entries))
  return chain
}
