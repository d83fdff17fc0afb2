import { eventually } from '@tollgate/testing'
import { startUpstream } from '@tollgate/upstream'
import { leaveInRounds, settled } from './test/leaving.ts'
import { startRig } from './test/rig.ts'

/**
 * `bun services/metering-proxy/aborts.soak.ts [aborts]`: 10,000 callers who leave at any moment, against a real ledger.
 * Ends with 1 when sockets, memory, holds or money are not where they were.
 */
const ABORTS = Number(process.argv[2] ?? 10_000)
const AT_ONCE = 100
const CREDIT = 10n ** 12n
/** 8 prompt and 20 completion tokens, at 1 and 2 micro-USD. */
const EACH_MICRO = 48n
/** Bun keeps 64 idle connections to a provider. */
const DESCRIPTORS_MORE = 70
const MEMORY_MORE_BYTES = 40 * 1024 * 1024

let requests = 0
const upstream = startUpstream({ tokens: 20, intervalMs: 5, observe: () => requests++ })
const rig = await startRig({ small: { urls: [upstream.url] } }, { LOG_LEVEL: 'error' })
const caller = await rig.account(CREDIT)
const state = async () => ({
  descriptors: await rig.gauge('process_open_fds'),
  memory: await rig.gauge('process_resident_memory_bytes'),
  heap: await rig.gauge('nodejs_heap_size_used_bytes'),
})

// The first thousand warm it up: buffers and compiled code stay.
await leaveInRounds(rig, caller, { rounds: 10, atOnce: AT_ONCE })
await settled(rig)
const before = await state()
for (let done = 0; done < ABORTS; done += AT_ONCE * 10) {
  await leaveInRounds(rig, caller, { rounds: 10, atOnce: AT_ONCE })
  console.log(done + AT_ONCE * 10, await state())
}
await settled(rig)

const { availableMicro, heldMicro } = await rig.balance(caller.acct)
const checks = {
  'no hold is left': heldMicro === 0n,
  'each request to the provider is charged once': CREDIT - availableMicro === EACH_MICRO * BigInt(requests),
  'descriptors are where they were': await settles(
    async () => (await state()).descriptors <= before.descriptors + DESCRIPTORS_MORE,
  ),
  'memory is where it was': await settles(async () => (await state()).memory <= before.memory + MEMORY_MORE_BYTES),
}
console.log({ requests, before, after: await state(), ...checks })
await rig.stop()
await upstream.stop()
process.exit(Object.values(checks).every(Boolean) ? 0 : 1)

/** Whether it becomes so while nothing is in work. */
function settles(check: () => Promise<boolean>): Promise<boolean> {
  return eventually(async () => (await check()) || undefined, { withinMs: 20_000, everyMs: 200 }).catch(() => false)
}
