import { median } from '../figures.ts'
import { credentialsFileOf, type LoadResult, runLoad } from '../load/load.ts'
import { figure } from '../report/table.ts'
import type { Target } from '../targets/target.ts'
import { type StartedTollgate, startTollgate } from '../targets/tollgate.ts'
import { bodyOf, paceOf } from '../workload.ts'
import type { ScaleOptions, Scaling } from './scaling.ts'
import { startSecondRouter } from './second-router.ts'

/** One thing at a time, then all. */
const setups = [
  { name: 'one of each', scale: '', routers: 1 },
  { name: '2 routers', scale: '', routers: 2 },
  { name: '2 metering-proxies', scale: 'metering-proxy=2', routers: 1 },
  { name: '2 ledgers', scale: 'ledger=2', routers: 1 },
  { name: '2 of each', scale: 'metering-proxy=2,ledger=2', routers: 2 },
] as const
const CONNECTIONS = [64, 256]
const WARMUP_SECONDS = 2

/** Requests per second with one replica and two. On two cores that one path already fills, two can't give more: they must not take away. */
export async function measureReplicas(options: ScaleOptions): Promise<Scaling> {
  const rows: string[][] = []
  let isClean = true
  for (const setup of setups) {
    const tollgate = await startTollgate(options.upstream, { names: ['tollgate'], accounts: 1, scale: setup.scale })
    try {
      const second = setup.routers === 2 ? await startSecondRouter(tollgate.stack) : undefined
      const urls = [tollgate.targets[0]?.baseUrl ?? '', ...(second ? [`${second.url}/v1`] : [])]
      for (const connections of CONNECTIONS) {
        const { perSecond, p99, failed } = await measured(tollgate, urls, connections, options)
        rows.push([setup.name, String(connections), figure(perSecond), figure(p99)])
        isClean &&= failed === 0
        options.say(`${setup.name}, ${connections} connections: ${Math.round(perSecond)}/s`)
      }
      await second?.stop()
      isClean &&= (await tollgate.stack.audit()).clean
    } finally {
      await tollgate.stop()
    }
  }
  const columns = ['replicas', 'connections', 'requests/s', 'p99 ms']
  return { table: { title: 'Replicas on one machine', columns, words: 1, rows }, isClean }
}

/** The connections are shared evenly among the routers. */
async function measured({ targets }: StartedTollgate, urls: string[], connections: number, options: ScaleOptions) {
  const [target] = targets
  if (!target) throw new Error('nothing was started')
  const run = (seconds: number) =>
    Promise.all(
      urls.map(url => runLoad(loadOf(target, { url, connections: connections / urls.length, seconds }, options))),
    )
  await run(WARMUP_SECONDS)
  const rounds: LoadResult[][] = []
  while (rounds.length < options.rounds) rounds.push(await run(options.seconds))
  return {
    perSecond: median(rounds.map(round => sum(round.map(({ requestsPerSecond }) => requestsPerSecond)))),
    p99: median(rounds.map(round => Math.max(...round.map(({ latencyMs }) => latencyMs.p99)))),
    failed: sum(rounds.flat().map(({ failed }) => failed)),
  }
}

interface Part {
  url: string
  connections: number
  seconds: number
}

function loadOf(target: Target, { url, connections, seconds }: Part, { folder }: ScaleOptions) {
  return {
    url: `${url}/chat/completions`,
    headers: { 'content-type': 'application/json', ...target.headers },
    body: bodyOf('json', target.modelFor(paceOf('json', connections))),
    credentialsFile: credentialsFileOf(target, folder),
    connections,
    seconds,
    thinkMs: 0,
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
