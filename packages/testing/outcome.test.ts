import { expect, test } from 'bun:test'
import { isHeavy } from './groups.ts'
import { countOutcome } from './outcome.ts'

const summary = (pass: number, fail: number) => ` ${pass} pass\n ${fail} fail\n 9 expect() calls\nRan 5 tests\n`

test.each([
  ['a good run', summary(5, 0), 0, { passed: 5, failed: 0 }],
  ['a failed test', summary(4, 1), 1, { passed: 4, failed: 1 }],
  ['a run that ended badly and counts no failure', summary(4, 0), 1, { passed: 4, failed: 1 }],
  ['a run that was killed before it counted', '(pass) one\n', 137, { passed: 0, failed: 1 }],
  ['a test that prints such a line itself', ` 99 pass\n${summary(3, 0)}`, 0, { passed: 3, failed: 0 }],
])('%s', (_name, output, code, expected) => {
  expect(countOutcome(output, code)).toEqual(expected)
})

test('whole stacks and faults run after the others, alone', () => {
  expect(
    ['infra/e2e/walk.test.ts', 'infra/local/start.stack.test.ts', 'services/ledger/crash.fault.test.ts'].every(isHeavy),
  ).toBe(true)
  expect(isHeavy('services/ledger/ledger.test.ts')).toBe(false)
})
