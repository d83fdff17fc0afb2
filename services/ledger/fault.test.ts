import { expect, test } from 'bun:test'
import { faultRun } from './test/faults.ts'

const RECOVERY_MAX_MS = 10_000

test('through killed ledgers, a crashed Postgres and a killed nats-server, no acknowledged operation is lost or doubled', async () => {
  const { acknowledged, recoveredMs, wrong, strayHolds, broken, ...rest } = await faultRun(12)
  console.log(
    `faults: ${acknowledged} acknowledged, recovered in ${recoveredMs.toFixed(0)} ms, ${JSON.stringify(rest)}`,
  )
  expect(acknowledged).toBeGreaterThan(1_000)
  expect(wrong).toEqual([])
  expect(strayHolds).toBe(0)
  expect(broken).toEqual([])
  expect(recoveredMs).toBeLessThan(RECOVERY_MAX_MS)
}, 110_000)
