import { median } from './figures.ts'
import type { Measurement } from './measure.ts'
import type { Scrape } from './prometheus.ts'
import { figure, type Table } from './report/table.ts'

/** The mean time of each part of one request, in ms, from the services' own histograms. */
interface Parts {
  client: number
  router: number
  limit: number
  forward: number
  completion: number
  hold: number
  upstream: number
  settle: number
  commit: number
}

const MS_PER_S = 1_000

/** Where each comes from. A batch of the ledger serves many requests: its time is what each of them waits for it. */
const histograms: Readonly<Record<Exclude<keyof Parts, 'client'>, string>> = {
  router: 'http_answer_seconds',
  limit: 'limit_seconds',
  forward: 'forward_seconds',
  completion: 'completion_seconds{part="whole"}',
  hold: 'completion_seconds{part="hold"}',
  upstream: 'upstream_begin_seconds',
  settle: 'completion_seconds{part="settle"}',
  commit: 'ledger_batch_seconds',
}

/** A request's way, hop by hop; together they are what the client waits for. */
const hops: readonly { name: string; of(parts: Parts): number }[] = [
  { name: 'client and router: network, queues, parsing', of: parts => parts.client - parts.router },
  { name: 'router: credential, identity, headers', of: parts => parts.router - parts.limit - parts.forward },
  { name: 'router: a place in the rate limit', of: parts => parts.limit },
  { name: 'hop from router to metering-proxy', of: parts => parts.forward - parts.completion },
  {
    name: 'metering-proxy: parse, estimate, price',
    of: parts => parts.completion - parts.hold - parts.upstream - parts.settle,
  },
  { name: 'hold: bus and queue', of: parts => parts.hold - parts.commit },
  { name: 'hold: a batch in Postgres', of: parts => parts.commit },
  { name: 'upstream', of: parts => parts.upstream },
  { name: 'settle: bus and queue', of: parts => parts.settle - parts.commit },
  { name: 'settle: a batch in Postgres', of: parts => parts.commit },
]

/** Where a request's time goes, by number of connections; nothing where the services were not asked. */
export function budgetTable(measurements: readonly Measurement[]): Table[] {
  const own = measurements.filter(({ kind, target, spent }) => kind === 'json' && target === 'tollgate' && spent)
  const counts = [...new Set(own.map(({ connections }) => connections))]
  if (counts.length === 0) return []
  const parts = counts.map(count => partsOf(own.filter(({ connections }) => connections === count)))
  const row = (name: string, of: (parts: Parts) => number) => [name, ...parts.map(each => figure(of(each)))]
  return [
    {
      title: 'Where the time of a whole body goes in Tollgate: mean ms by connections',
      columns: ['part', ...counts.map(String)],
      words: 1,
      rows: [...hops.map(({ name, of }) => row(name, of)), row('all', ({ client }) => client)],
    },
  ]
}

function partsOf(rounds: readonly Measurement[]): Parts {
  const mean = (histogram: string) => median(rounds.map(({ spent }) => meanMs(spent ?? {}, histogram)))
  const measured = Object.entries(histograms).map(([part, histogram]) => [part, mean(histogram)])
  const client = median(rounds.map(({ meanMs }) => meanMs ?? Number.NaN))
  return { ...Object.fromEntries(measured), client } as Parts // one entry a part, by `histograms`
}

function meanMs(spent: Scrape, histogram: string): number {
  const { count, seconds } = spent[histogram] ?? { count: 0, seconds: Number.NaN }
  return (seconds / count) * MS_PER_S
}
