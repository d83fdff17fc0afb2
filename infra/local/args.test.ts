import { expect, test } from 'bun:test'
import { parseArgs, type StartArgs } from './args.ts'

const commandLines: [argv: string[], env: Record<string, string>, expected: Omit<StartArgs, 'throwaway'>][] = [
  [[], {}, { fresh: false, scale: {} }],
  [['--fresh'], {}, { fresh: true, scale: {} }],
  [['--scale', 'metering-proxy=3,ledger=2'], {}, { fresh: false, scale: { 'metering-proxy': 3, ledger: 2 } }],
  [['--scale=ledger=2', '--fresh'], {}, { fresh: true, scale: { ledger: 2 } }],
  // npm start --fresh --scale ledger=2
  [['ledger=2'], { npm_config_fresh: 'true', npm_config_scale: 'true' }, { fresh: true, scale: { ledger: 2 } }],
  // npm start --scale=ledger=2
  [[], { npm_config_scale: 'ledger=2' }, { fresh: false, scale: { ledger: 2 } }],
]
test.each(commandLines)('npm start %j, with npm telling %j', (argv, env, expected) => {
  expect(parseArgs(argv, env)).toEqual({ throwaway: false, ...expected })
})

test.each([
  [['--frsh'], 'unknown argument "--frsh"'],
  [['--scale'], 'no service ""'],
  [['--scale', 'ledgr=2'], 'no service "ledgr"'],
  [['--scale', 'ledger=0'], 'expected 1 to 64'],
  [['--scale', 'ledger=1.5'], 'expected 1 to 64'],
  [['--scale', 'router=2'], 'one port'],
])('%j is refused', (argv, message) => {
  expect(() => parseArgs(argv)).toThrow(message)
})
