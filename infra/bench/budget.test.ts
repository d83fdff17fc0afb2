import { expect, test } from 'bun:test'
import { budgetTable } from './budget.ts'
import type { Measurement } from './measure.ts'
import { readHistograms, spentBetween } from './prometheus.ts'

const metrics = (requests: number, seconds: number) => `
# HELP tollgate_completion_seconds parts
# TYPE tollgate_completion_seconds histogram
tollgate_completion_seconds_bucket{le="0.001",part="hold",service="metering_proxy"} 7
tollgate_completion_seconds_sum{part="hold",service="metering_proxy"} ${seconds}
tollgate_completion_seconds_count{part="hold",service="metering_proxy"} ${requests}
tollgate_http_answer_seconds_sum{service="router"} ${2 * seconds}
tollgate_http_answer_seconds_count{service="router"} ${requests}
process_cpu_seconds_total{service="router"} 3
`

test('histograms are read by name and part, and replicas add up', () => {
  expect(readHistograms([metrics(100, 0.2), metrics(50, 0.1)])).toEqual({
    'completion_seconds{part="hold"}': { count: 150, seconds: expect.closeTo(0.3) },
    http_answer_seconds: { count: 150, seconds: expect.closeTo(0.6) },
  })
})

test('only what was spent between two scrapes counts', () => {
  const [before, after] = [readHistograms([metrics(100, 0.2)]), readHistograms([metrics(300, 0.5)])]
  expect(spentBetween(before, after).http_answer_seconds).toEqual({ count: 200, seconds: expect.closeTo(0.6) })
})

test('the parts of a request add up to what the client waits for', () => {
  const spent = Object.fromEntries(
    Object.entries({
      http_answer_seconds: 2,
      limit_seconds: 0.2,
      forward_seconds: 1.5,
      'completion_seconds{part="whole"}': 1.3,
      'completion_seconds{part="hold"}': 0.5,
      upstream_begin_seconds: 0.2,
      'completion_seconds{part="settle"}': 0.5,
      ledger_batch_seconds: 0.4,
    }).map(([name, ms]) => [name, { count: 10, seconds: (10 * ms) / 1_000 }]),
  )
  const measured: Measurement = {
    ...{ round: 0, kind: 'json', connections: 1, target: 'tollgate', requestsPerSecond: 1, failed: 0, meanMs: 2.1 },
    processes: [],
    spent,
  }
  const rows = budgetTable([measured])[0]?.rows ?? []
  const all = rows.at(-1)
  const parts = rows.slice(0, -1).map(([, ms]) => Number(ms))
  expect(all).toEqual(['all', '2.10'])
  expect(parts.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(2.1)
  expect(rows).toContainEqual(['hold: bus and queue', '0.10'])
  expect(budgetTable([{ ...measured, target: 'upstream' }])).toEqual([])
})
