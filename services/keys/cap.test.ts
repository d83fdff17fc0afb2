import { expect, test } from 'bun:test'
import { type CapFields, capChangeOf, changedCap, MAX_CAP_MICRO, noCap } from './cap.ts'

const codeOf = (act: () => unknown) => {
  try {
    return { value: act() }
  } catch (error) {
    return { code: error instanceof Object && 'code' in error ? error.code : error }
  }
}
const created = (fields: CapFields) => codeOf(() => changedCap(capChangeOf(fields), noCap))

test('a cap is exactly the decimal that was written', () => {
  const rows: [CapFields, bigint | null][] = [
    [{}, null],
    [{ spendCapUsd: null }, null],
    [{ spendCapUsd: null, spendCapMicro: null }, null],
    [{ spendCapUsd: 0 }, 0n],
    [{ spendCapUsd: -0 }, 0n],
    [{ spendCapUsd: 5 }, 5_000_000n],
    [{ spendCapUsd: 12.5 }, 12_500_000n],
    [{ spendCapUsd: 0.1 }, 100_000n],
    [{ spendCapUsd: 0.3 }, 300_000n],
    [{ spendCapUsd: 1.005 }, 1_005_000n],
    [{ spendCapUsd: 4.35 }, 4_350_000n],
    [{ spendCapUsd: 0.000001 }, 1n],
    [{ spendCapUsd: 0.00005 }, 50n],
    [{ spendCapUsd: 999999.999999 }, 999_999_999_999n],
    [{ spendCapUsd: 1_000_000 }, MAX_CAP_MICRO],
    [{ spendCapMicro: 0 }, 0n],
    [{ spendCapMicro: 1 }, 1n],
    [{ spendCapMicro: 1_000_000_000_000 }, MAX_CAP_MICRO],
    [{ spendCapUsd: null, spendCapMicro: 7 }, 7n],
  ]
  for (const [fields, capMicro] of rows) {
    expect({ fields, ...created(fields) }).toEqual({ fields, value: { capMicro, window: 'none' } })
  }
})

test('a cap that can’t be kept exactly, or at all, is refused and never rounded', () => {
  const rows: CapFields[] = [
    { spendCapUsd: -1 },
    { spendCapUsd: -0.000001 },
    { spendCapUsd: 0.1 + 0.2 },
    { spendCapUsd: 0.0000001 },
    { spendCapUsd: 1.0000001 },
    { spendCapUsd: 1e21 },
    { spendCapUsd: 1_000_000.000001 },
    { spendCapUsd: Number.NaN },
    { spendCapUsd: Number.POSITIVE_INFINITY },
    { spendCapMicro: -1 },
    { spendCapMicro: 1.5 },
    { spendCapMicro: 1_000_000_000_001 },
    { spendCapMicro: 2 ** 53 },
    { spendCapMicro: Number.NaN },
    { spendCapUsd: 1, spendCapMicro: 1_000_000 },
    { spendCapUsd: 0, spendCapMicro: 0 },
    { spendWindow: 'daily' },
    { spendCapUsd: null, spendWindow: 'monthly' },
  ]
  for (const fields of rows) expect({ fields, ...created(fields) }).toEqual({ fields, code: 'bad_request' })
})

test('what a change leaves out stays as it was; null lifts the cap with its window', () => {
  const present = { capMicro: 5n, window: 'daily' } as const
  const changed = (fields: CapFields) => changedCap(capChangeOf(fields), present)
  expect(changed({})).toEqual(present)
  expect(changed({ spendCapMicro: 9 })).toEqual({ capMicro: 9n, window: 'daily' })
  expect(changed({ spendWindow: 'weekly' })).toEqual({ capMicro: 5n, window: 'weekly' })
  expect(changed({ spendCapUsd: null })).toEqual(noCap)
  expect(changed({ spendCapMicro: 0, spendWindow: 'none' })).toEqual({ capMicro: 0n, window: 'none' })
})
