/** `bun run bench`: Tollgate beside what users would pick instead, on this machine, in one run. */
import { type BenchArgs, readArgs, USAGE } from './args.ts'
import { runBench } from './bench.ts'
import { profileTables } from './profiles.ts'
import { asReport } from './report/report.ts'
import { asText } from './report/table.ts'
import { takeTurns } from './turns.ts'

const args = readOrExplain(process.argv.slice(2))
// Everything that is compared, and the load.
takeTurns()
const report = await runBench(args, line => console.error(line))
console.log(args.output === 'json' ? JSON.stringify(report, null, 2) : asReport(report, args.output))
if (args.profile && args.output !== 'json') console.log(profileTables(args.profile).map(asText).join('\n\n'))
const failed = report.rows.some(row => row.failed > 0)
process.exit(failed || report.audit?.clean === false ? 1 : 0)

function readOrExplain(argv: readonly string[]): BenchArgs {
  try {
    return readArgs(argv)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    console.error(USAGE)
    process.exit(2)
  }
}
