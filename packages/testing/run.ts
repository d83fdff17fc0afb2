/** `npm test`: the checks, then every test against one Postgres; the last line is `N passed, N failed`. Words filter by path. */
import { obtainNatsServer } from '@tollgate/nats'
import { type OwnCluster, startOwnCluster } from './cluster.ts'
import { type Group, planGroups } from './groups.ts'
import { type Outcome, runCheck, runGroup } from './outcome.ts'
import { root, toolsDir } from './tools.ts'

const filters = process.argv.slice(2)
const started = performance.now()
let cluster: OwnCluster | undefined

async function runAll(): Promise<Outcome[]> {
  await obtainNatsServer(toolsDir, line => console.log(line))
  cluster = await startOwnCluster()
  const env = testEnvironment(cluster.adminUrl)
  const outcomes = filters.length === 0 ? [await runCheck(env)] : []
  const groups: Group[] = await planGroups(root, filters)
  if (groups.length === 0) throw new Error(`no test file's path has any of: ${filters.join(', ')}`)
  for (const group of groups) outcomes.push(await runGroup(group, env))
  return outcomes
}

function testEnvironment(databaseUrl: string): Record<string, string> {
  const { SUPERVISED: _, ...own } = process.env
  const set = Object.entries(own).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { ...Object.fromEntries(set), TEST_DATABASE_ADMIN_URL: databaseUrl }
}

async function end(code: number): Promise<never> {
  await cluster?.stop()
  process.exit(code)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(1))
if (process.env.SUPERVISED === '1') process.stdin.on('end', () => void end(1)).resume()

try {
  const outcomes = await runAll()
  const sum = (key: keyof Outcome) => outcomes.reduce((total, outcome) => total + outcome[key], 0)
  console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s`)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  await end(sum('failed') === 0 ? 0 : 1)
} catch (error) {
  console.log(error instanceof Error ? error.message : String(error))
  console.log('0 passed, 1 failed')
  await end(1)
}
