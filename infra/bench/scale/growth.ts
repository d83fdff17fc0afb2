import { median } from '../figures.ts'
import { type Measurement, measure } from '../measure.ts'
import { figure } from '../report/table.ts'
import { type Size, seed } from '../targets/seed.ts'
import type { Target } from '../targets/target.ts'
import { startTollgate } from '../targets/tollgate.ts'
import type { ScaleOptions, Scaling } from './scaling.ts'

const CONNECTIONS = 64
const US_PER_S = 1_000_000
/** Accounts that take part, evenly over all: more would measure the router's cache of keys. */
const KEYS_MAX = 1_000

/** The cost of a request as accounts and journal grow, asked by many accounts and by one. */
export async function measureGrowth(options: ScaleOptions): Promise<Scaling> {
  const tollgate = await startTollgate(options.upstream, { names: ['tollgate'], accounts: 1 })
  try {
    const [one] = tollgate.targets
    if (!one) throw new Error('nothing was started')
    const rows: string[][] = []
    let isClean = true
    let before: Size = { accounts: 0, journalRows: 0 }
    for (const [index, size] of options.sizes.entries()) {
      options.say(`seeding up to ${size.accounts} accounts and ${size.journalRows} journal rows ...`)
      const added = { accounts: size.accounts - before.accounts, journalRows: size.journalRows - before.journalRows }
      const postgresUrl = tollgate.stack.gateway.postgres
      const credentials = await seed({ postgresUrl, size: added, name: `seed${index}`, keys: KEYS_MAX })
      const many: Target = { ...one, name: 'spread', credentials }
      const measurements = await measureBoth([many, one], options)
      rows.push(rowOf(size, measurements))
      const audit = await tollgate.stack.audit()
      isClean &&= audit.clean && measurements.every(({ failed }) => failed === 0)
      options.say(`${rows.at(-1)?.join('  ')}  ${audit.text.split('\n').at(-1)}`)
      before = size
    }
    const columns = [
      'accounts',
      'journal rows',
      'many accounts /s',
      'p99 ms',
      'ledger + Postgres µs/request',
      'one account /s',
    ]
    return { table: { title: 'Accounts and journal growing (64 connections)', columns, words: 0, rows }, isClean }
  } finally {
    await tollgate.stop()
  }
}

async function measureBoth(
  targets: readonly Target[],
  { seconds, rounds, folder }: ScaleOptions,
): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (let round = 0; round < rounds; round++) {
    for (const target of targets) {
      const step = { round, kind: 'json', connections: CONNECTIONS, target: target.name } as const
      measurements.push(await measure(step, target, { seconds, folder }))
    }
  }
  return measurements
}

function rowOf({ accounts, journalRows }: Size, measurements: readonly Measurement[]): string[] {
  const many = measurements.filter(({ target }) => target === 'spread')
  const one = measurements.filter(({ target }) => target === 'tollgate')
  const perSecond = (of: readonly Measurement[]) => median(of.map(({ requestsPerSecond }) => requestsPerSecond))
  return [
    accounts.toLocaleString('en-US'),
    journalRows.toLocaleString('en-US'),
    figure(perSecond(many)),
    figure(median(many.map(({ latencyMs }) => latencyMs?.p99 ?? Number.NaN))),
    figure(median(many.map(moneyCost))),
    figure(perSecond(one)),
  ]
}

/** CPU time of what grows with the data, per request. */
function moneyCost({ processes, requestsPerSecond }: Measurement): number {
  const cores = processes
    .filter(({ label }) => label === 'ledger' || label === 'postgres')
    .reduce((sum, share) => sum + share.cores, 0)
  return (cores * US_PER_S) / requestsPerSecond
}
