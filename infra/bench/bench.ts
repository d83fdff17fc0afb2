import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchArgs } from './args.ts'
import { budgetTable } from './budget.ts'
import { goals, judge } from './goals.ts'
import { describeMachine } from './machine.ts'
import { type Measurement, measure, warmUp } from './measure.ts'
import { stepsOf, type TargetName } from './plan.ts'
import type { Report } from './report/report.ts'
import { finder, summarise } from './summary.ts'
import { placeIn, startBareProxy, startPortkey, startSimulatedUpstream } from './targets/peers.ts'
import type { Started } from './targets/target.ts'
import { type StartedTollgate, startTollgate } from './targets/tollgate.ts'

const WARM_CONNECTIONS = 64

/** Everything that runs for a comparison. */
interface Running {
  parts: readonly Started[]
  tollgate: StartedTollgate | undefined
}

/** Starts what is compared, measures it in turns, checks the money, and stops everything. */
export async function runBench(args: BenchArgs, say: (line: string) => void): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const running: Started[] = []
  try {
    const { parts, tollgate } = await startAll(args, folder, running, say)
    const measurements = await measureAll(args, folder, parts, say)
    const rows = summarise(measurements)
    const find = finder(rows)
    return {
      machine: describeMachine(new Date()),
      rows,
      verdicts: goals.map(goal => judge(goal, find)),
      budget: budgetTable(measurements),
      audit: tollgate ? await tollgate.stack.audit() : null,
    }
  } finally {
    for (const part of running.toReversed()) await part.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What was started is in `running` also when a later one fails. */
async function startAll(
  args: BenchArgs,
  folder: string,
  running: Started[],
  say: (line: string) => void,
): Promise<Running> {
  const place = placeIn(folder)
  const keep = <T extends Started>(part: T): T => {
    running.push(part)
    return part
  }
  say('starting what is compared ...')
  const upstream = keep(await startSimulatedUpstream(place))
  if (args.targets.includes('proxy')) keep(await startBareProxy(place, upstream))
  if (args.targets.includes('portkey')) keep(await startPortkey(place, upstream))
  const names = args.targets.filter((name): name is TargetName => name === 'tollgate' || name === 'spread')
  const tollgate =
    names.length > 0
      ? keep(await startTollgate(upstream, { names, accounts: args.accounts, ...profiling(args) }))
      : undefined
  return { parts: running, tollgate }
}

async function measureAll(
  args: BenchArgs,
  folder: string,
  parts: readonly Started[],
  say: (line: string) => void,
): Promise<Measurement[]> {
  const targets = parts.flatMap(part => part.targets)
  const measurements: Measurement[] = []
  const steps = stepsOf(args)
  say('warming up ...')
  for (const target of targets)
    await warmUp(target, { connections: WARM_CONNECTIONS, seconds: args.warmupSeconds, folder })
  for (const [index, step] of steps.entries()) {
    const target = targets.find(({ name }) => name === step.target)
    if (!target) throw new Error(`${step.target} was not started`)
    const measured = await measure(step, target, { seconds: args.seconds, folder })
    measurements.push(measured)
    say(progress(index + 1, steps.length, measured))
  }
  return measurements
}

function progress(
  done: number,
  all: number,
  { kind, connections, target, requestsPerSecond, failed }: Measurement,
): string {
  const trouble = failed > 0 ? `, ${failed} FAILED` : ''
  return `${done}/${all} ${kind} ${connections} ${target}: ${Math.round(requestsPerSecond)}/s${trouble}`
}

/** Bun writes a profile of each process when it ends. */
function profiling({ profile }: BenchArgs): { env?: Record<string, string> } {
  return profile === undefined ? {} : { env: { BUN_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` } }
}
