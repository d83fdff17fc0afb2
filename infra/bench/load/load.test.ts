import { expect, test } from 'bun:test'
import { countEvents } from './events.ts'
import { readWrkReport } from './wrk.ts'

test("wrk's report is read in milliseconds and per second of its own clock", () => {
  const output =
    'Running 2s test\nreport {"requests":300,"durationUs":2000000,"failed":4,"mean":1600.5,"p50":1500,"p90":2000,"p99":9000}\n'
  expect(readWrkReport(output)).toEqual({
    requests: 300,
    requestsPerSecond: 150,
    failed: 4,
    meanMs: 1.6005,
    latencyMs: { p50: 1.5, p90: 2, p99: 9 },
  })
  expect(() => readWrkReport('unable to connect')).toThrow('unable to connect')
})

test('events are counted whole, wherever the bytes are cut', () => {
  const counter = countEvents()
  expect(counter.read('data: {"system_fingerprint":"fp_1000.25","cho')).toEqual([])
  expect(counter.read('ices":[]}\n')).toEqual([])
  expect(counter.read('\ndata: {"system_fingerprint":"fp_1001"}\n\ndata: [DONE]\n\n')).toEqual([
    1000.25,
    1001,
    Number.NaN,
  ])
})
