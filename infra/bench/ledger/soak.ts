import { readFileSync } from 'node:fs'
import { stack } from '../../../services/ledger/test/stack.ts'
import { durablePostgres } from './durable.ts'
import { drive } from './load.ts'

/**
 * `bun run soak:ledger [minutes]`: full load on one ledger, and its memory all the while. Ends with 1 when the last quarter
 * of the time needed clearly more than the second one (the first fills caches and pools), or when the audit finds anything.
 */
const MINUTES = Number(process.argv[2] ?? 5)
const IN_FLIGHT = 128
const ACCOUNTS = 200
const SAMPLE_EVERY_MS = 1_000
/** Garbage comes and goes by some megabytes between two samples of a healthy process. */
const GROWTH_MAX_MB = 24

const residentMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

const on = await stack({ database: await durablePostgres() })
const service = on.start()
await on.answering()
const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => on.funded(1_000_000_000_000n)))

const samples: number[] = []
const sampling = setInterval(() => samples.push(residentMb(service.pid)), SAMPLE_EVERY_MS)
const measured = await drive({ bus: on.proxy, accounts, inFlight: IN_FLIGHT, seconds: MINUTES * 60 })
clearInterval(sampling)

const quarter = Math.floor(samples.length / 4)
const quarters = [0, 1, 2, 3].map(n => mean(samples.slice(n * quarter, (n + 1) * quarter)))
const growth = (quarters[3] ?? 0) - (quarters[1] ?? 0)
const broken = await on.audit()
console.log(
  `${MINUTES} min, ${IN_FLIGHT} in flight: ${measured.pairsPerSecond.toFixed(0)} pairs/s, hold p50 ${measured.holdP50Ms.toFixed(1)} ms, p99 ${measured.holdP99Ms.toFixed(1)} ms`,
)
console.log(
  `resident memory by quarter: ${quarters.map(mb => `${mb.toFixed(0)} MB`).join(', ')}; growth ${growth.toFixed(1)} MB`,
)
console.log(broken.length === 0 ? 'audit: clean' : `audit: ${JSON.stringify(broken)}`)
await on.stop()
process.exit(growth > GROWTH_MAX_MB || broken.length > 0 ? 1 : 0)
