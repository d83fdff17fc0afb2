import { expect, test } from 'bun:test'
import { judgeSoak, type Window } from './steadiness.ts'

const MIB = 1024 * 1024
const windows = (rssMib: (minute: number) => number, p99Ms: (minute: number) => number): Window[] =>
  Array.from({ length: 48 }, (_, index) => ({
    seconds: (index + 1) * 10,
    requestsPerSecond: 1_000,
    failed: 0,
    p50Ms: 1,
    p99Ms: p99Ms(index / 6),
    processes: [{ pid: 1, label: 'router', cpuMs: 0, ownBytes: rssMib(index / 6) * MIB, sharedBytes: 0 }],
  }))

test('a process that grows after the first minute is not flat, one that warmed up before is', () => {
  const growing = judgeSoak(
    windows(
      minute => 100 + 5 * minute,
      () => 9,
    ),
  )
  expect(growing[0]).toMatchObject({ name: 'RSS of router', isFlat: false, perMinute: expect.closeTo(5) })
  const warmed = judgeSoak(
    windows(
      minute => (minute < 1 ? 60 : 100),
      () => 9,
    ),
  )
  expect(warmed).toMatchObject([
    { name: 'RSS of router', isFlat: true, early: 100, late: 100 },
    { name: 'p99', isFlat: true },
  ])
})

test('a p99 that doubles is not flat', () => {
  const verdicts = judgeSoak(
    windows(
      () => 100,
      minute => 10 + 3 * minute,
    ),
  )
  expect(verdicts.find(({ name }) => name === 'p99')).toMatchObject({ isFlat: false })
})

test('nothing is judged before the first minute is over', () => {
  expect(
    judgeSoak(
      windows(
        () => 1,
        () => 1,
      ).slice(0, 6),
    ),
  ).toEqual([])
})
