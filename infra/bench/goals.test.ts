import { expect, test } from 'bun:test'
import { goals, judge } from './goals.ts'
import type { Measurement } from './measure.ts'
import { finder, summarise } from './summary.ts'

const measured = (
  target: 'upstream' | 'proxy' | 'tollgate',
  connections: number,
  requestsPerSecond: number,
  p50: number,
): Measurement => ({
  round: 0,
  kind: 'json',
  connections,
  target,
  requestsPerSecond,
  failed: 1,
  latencyMs: { p50, p90: p50, p99: p50 },
  processes: [{ label: target, cores: 1, rssBytes: 1 }],
})

test('goals are judged by medians of the rounds', () => {
  const rows = summarise([
    ...[1_000, 9_000, 1_100].map(perSecond => measured('proxy', 64, perSecond, 1)),
    ...[200, 220, 10].map(perSecond => measured('tollgate', 64, perSecond, 40)),
    measured('upstream', 1, 900, 0.1),
    measured('tollgate', 1, 90, 1.05),
  ])
  const find = finder(rows)
  const verdict = (name: string) => {
    const goal = goals.find(goal => goal.name.startsWith(name))
    return goal && judge(goal, find)
  }
  expect(find('json', 64, 'tollgate')).toMatchObject({ requestsPerSecond: 200, failed: 3 })
  expect(verdict('requests/s against the bare proxy, 64')).toMatchObject({
    value: expect.closeTo(200 / 1_100),
    reached: 'floor',
  })
  expect(verdict('p99 of a whole body')).toMatchObject({ value: 40, reached: 'no' })
  expect(verdict('added to a whole body')).toMatchObject({ value: expect.closeTo(0.95), reached: 'stretch' })
  expect(verdict('requests/s against Portkey, 64')).toMatchObject({ value: null, reached: 'not measured' })
})
