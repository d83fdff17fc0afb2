import { median, slope } from './figures.ts'
import { memoryOf, type ProcessFigures } from './processes.ts'
import { figure, type Table } from './report/table.ts'

/** Ten seconds of a soak. */
export interface Window {
  /** Since the soak began, at the window's end. */
  seconds: number
  requestsPerSecond: number
  failed: number
  p50Ms: number
  p99Ms: number
  processes: readonly ProcessFigures[]
}

/** Whether a figure stayed what it was after the first minute. */
export interface Steadiness {
  name: string
  unit: 'MiB' | 'ms'
  /** Medians of the first and of the last third after the first minute. */
  early: number
  late: number
  /** By a straight line through all windows after the first minute. */
  perMinute: number
  isFlat: boolean
}

const WARM_SECONDS = 60
const SECONDS_PER_MINUTE = 60
const MIB = 1024 * 1024
/** Heaps breathe: a garbage collector that lets one grow by this and comes back is no leak. */
const RSS_MAY_GROW_SHARE = 0.1
const RSS_MAY_GROW_MIB = 8
/** The tail of a shared machine varies by this from one third of a run to another. */
const P99_MAY_GROW_SHARE = 0.5

export function judgeSoak(windows: readonly Window[]): Steadiness[] {
  const warm = windows.filter(({ seconds }) => seconds > WARM_SECONDS)
  if (warm.length < 3) return []
  const labels = [...new Set(warm.flatMap(({ processes }) => processes.map(({ label }) => label)))]
  return [
    ...labels.map(label => {
      const rss = warm.map(window => rssMib(window, label))
      const allowed = (early: number) => early + Math.max(RSS_MAY_GROW_MIB, early * RSS_MAY_GROW_SHARE)
      return steadinessOf({ name: `RSS of ${label}`, unit: 'MiB', values: rss, allowed }, warm)
    }),
    steadinessOf(
      {
        name: 'p99',
        unit: 'ms',
        values: warm.map(({ p99Ms }) => p99Ms),
        allowed: early => early * (1 + P99_MAY_GROW_SHARE),
      },
      warm,
    ),
  ]
}

interface Series {
  name: string
  unit: Steadiness['unit']
  values: readonly number[]
  /** The most that the last third may reach. */
  allowed(early: number): number
}

function steadinessOf({ name, unit, values, allowed }: Series, warm: readonly Window[]): Steadiness {
  const third = Math.floor(values.length / 3)
  const [early, late] = [median(values.slice(0, third)), median(values.slice(-third))]
  const windowSeconds = ((warm.at(-1)?.seconds ?? 0) - (warm[0]?.seconds ?? 0)) / (warm.length - 1)
  const perMinute = slope(values) * (SECONDS_PER_MINUTE / windowSeconds)
  return { name, unit, early, late, perMinute, isFlat: late <= allowed(early) }
}

function rssMib({ processes }: Window, label: string): number {
  return memoryOf(processes.filter(process => process.label === label)) / MIB
}

/** One line a minute of what was measured, and the judgement. */
export function soakTables(windows: readonly Window[], verdicts: readonly Steadiness[]): Table[] {
  const labels = [...new Set(windows.flatMap(({ processes }) => processes.map(({ label }) => label)))]
  const shown = windows.filter(({ seconds }) => seconds % SECONDS_PER_MINUTE === 0 || windows.length < 12)
  return [
    {
      title: 'RSS in MiB and latency, every minute',
      columns: ['seconds', 'requests/s', 'failed', 'p50 ms', 'p99 ms', ...labels],
      words: 0,
      rows: shown.map(window => [
        String(window.seconds),
        figure(window.requestsPerSecond),
        String(window.failed),
        figure(window.p50Ms),
        figure(window.p99Ms),
        ...labels.map(label => figure(rssMib(window, label))),
      ]),
    },
    {
      title: 'After the first minute',
      columns: ['figure', 'first third', 'last third', 'a minute', 'flat'],
      words: 1,
      rows: verdicts.map(({ name, unit, early, late, perMinute, isFlat }) => [
        `${name}, ${unit}`,
        figure(early),
        figure(late),
        figure(perMinute),
        isFlat ? 'yes' : 'NO',
      ]),
    },
  ]
}
