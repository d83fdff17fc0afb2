import type { Find } from './summary.ts'

/** A figure that the project holds itself to, with the least it must reach and what it goes for. */
export interface Goal {
  name: string
  unit: '×' | 'ms' | ''
  better: 'higher' | 'lower'
  floor: number
  stretch?: number
  /** Undefined when the run did not measure it. */
  measure(find: Find): number | undefined
}

export interface Verdict extends Omit<Goal, 'measure'> {
  value: number | null
  reached: 'stretch' | 'floor' | 'no' | 'not measured'
}

const throughput = (find: Find, connections: number, against: 'proxy' | 'portkey'): number | undefined =>
  ratio(find('json', connections, 'tollgate')?.requestsPerSecond, find('json', connections, against)?.requestsPerSecond)

/** Complete path = API key, limit, durable hold, durable settlement and events on every call. */
export const goals: readonly Goal[] = [
  {
    name: 'requests/s against the bare proxy, 64 connections',
    unit: '×',
    better: 'higher',
    floor: 0.15,
    stretch: 0.3,
    measure: find => throughput(find, 64, 'proxy'),
  },
  {
    name: 'requests/s against the bare proxy, 256 connections',
    unit: '×',
    better: 'higher',
    floor: 0.25,
    stretch: 0.3,
    measure: find => throughput(find, 256, 'proxy'),
  },
  {
    name: 'requests/s against Portkey, 64 connections',
    unit: '×',
    better: 'higher',
    floor: 0.6,
    stretch: 1,
    measure: find => throughput(find, 64, 'portkey'),
  },
  {
    name: 'requests/s against Portkey, 256 connections',
    unit: '×',
    better: 'higher',
    floor: 0.75,
    stretch: 1,
    measure: find => throughput(find, 256, 'portkey'),
  },
  {
    name: 'p99 of a whole body, 64 connections',
    unit: 'ms',
    better: 'lower',
    floor: 30,
    measure: find => find('json', 64, 'tollgate')?.latencyMs?.p99,
  },
  {
    name: 'added to a whole body, p50, 1 connection',
    unit: 'ms',
    better: 'lower',
    floor: 2,
    stretch: 1,
    measure: find =>
      difference(find('json', 1, 'tollgate')?.latencyMs?.p50, find('json', 1, 'upstream')?.latencyMs?.p50),
  },
  {
    name: 'added to the first byte of a stream, p50, 1 connection',
    unit: 'ms',
    better: 'lower',
    floor: 1.5,
    measure: find =>
      difference(find('paced', 1, 'tollgate')?.firstByteMs?.p50, find('paced', 1, 'upstream')?.firstByteMs?.p50),
  },
  {
    name: 'streams with another number of pieces than the upstream sent',
    unit: '',
    better: 'lower',
    floor: 0,
    measure: brokenStreams,
  },
  ...[64, 256].map(
    (connections): Goal => ({
      name: `requests/s of one account against many, ${connections} connections`,
      unit: '×',
      better: 'higher',
      floor: 0.9,
      measure: find =>
        ratio(
          find('json', connections, 'tollgate')?.requestsPerSecond,
          find('json', connections, 'spread')?.requestsPerSecond,
        ),
    }),
  ),
]

export function judge(goal: Goal, find: Find): Verdict {
  const { measure, ...rest } = goal
  const value = measure(find)
  if (value === undefined || Number.isNaN(value)) return { ...rest, value: null, reached: 'not measured' }
  const reaches = (bound: number) => (goal.better === 'higher' ? value >= bound : value <= bound)
  const reached = goal.stretch !== undefined && reaches(goal.stretch) ? 'stretch' : reaches(goal.floor) ? 'floor' : 'no'
  return { ...rest, value, reached }
}

function brokenStreams(find: Find): number | undefined {
  const rows = [1, 16, 64, 256].flatMap(connections => find('paced', connections, 'tollgate') ?? [])
  return rows.length === 0 ? undefined : rows.reduce((sum, { failed }) => sum + failed, 0)
}

function ratio(value: number | undefined, reference: number | undefined): number | undefined {
  return value === undefined || reference === undefined ? undefined : value / reference
}

function difference(value: number | undefined, reference: number | undefined): number | undefined {
  return value === undefined || reference === undefined ? undefined : value - reference
}
