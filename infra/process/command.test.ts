import { expect, test } from 'bun:test'
import { commandOf, descendantsOf } from './command.ts'
import { eventually } from './eventually.ts'

test('a running process is known by its command line, an ended one is not', async () => {
  const child = Bun.spawn(['sleep', '30'])
  // For an instant it is still ours: spawned, and not yet another program.
  await eventually(() => commandOf(child.pid)?.includes('sleep 30'))
  expect(descendantsOf(process.pid)).toContain(child.pid)
  child.kill('SIGKILL')
  await eventually(() => commandOf(child.pid) === undefined)
  expect(commandOf(0)).toBeUndefined()
  expect(commandOf(Number.NaN)).toBeUndefined()
})
