import { expect, test } from 'bun:test'
import { isHeavy } from './groups.ts'
import { afterSecondChance, countOutcome, failedFiles } from './outcome.ts'

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

test('a failed test names its file, once, and so does a file that can not be read', () => {
  const output = `
a/one.test.ts:
(pass) good
{"level":"error","msg":"a service says: (fail) no test of ours"}

b/two.test.ts:
(fail) bad [1.00ms]
(fail) worse

c/three.test.ts:

# Unhandled error between tests

d/four.test.ts:
(pass) good

2 tests failed:
(fail) bad [1.00ms]
(fail) worse
`
  expect(failedFiles(output)).toEqual(['b/two.test.ts', 'c/three.test.ts'])
})

test('what fails alone too has failed, what does not has passed', () => {
  expect(afterSecondChance({ passed: 98, failed: 2 }, { passed: 7, failed: 1 })).toEqual({ passed: 99, failed: 1 })
  expect(afterSecondChance({ passed: 98, failed: 2 }, { passed: 8, failed: 0 })).toEqual({ passed: 100, failed: 0 })
})

test('whole stacks and faults run after the others, alone', () => {
  expect(
    ['infra/e2e/walk.test.ts', 'infra/local/start.stack.test.ts', 'services/ledger/crash.fault.test.ts'].every(isHeavy),
  ).toBe(true)
  expect(isHeavy('services/ledger/ledger.test.ts')).toBe(false)
})
