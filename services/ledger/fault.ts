import { faultRun } from './test/faults.ts'

/** `bun run fault:ledger [seconds]`: the fault test for as long as you like. Ends with 1 when a guarantee broke. */
const report = await faultRun(Number(process.argv[2] ?? 120))
console.log(JSON.stringify(report, null, 2))
const broke = report.wrong.length + report.strayHolds + report.broken.length > 0 || report.recoveredMs > 10_000
process.exit(broke ? 1 : 0)
