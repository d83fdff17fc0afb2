import { parseArgs } from 'node:util'
import { type Kind, kinds, type Plan, type TargetName, targetNames } from './plan.ts'

export interface BenchArgs extends Plan {
  output: 'text' | 'json' | 'markdown'
  /** Of each target, before anything is measured. */
  warmupSeconds: number
  /** How many accounts share the load of `spread`. */
  accounts: number
  /** Where the processes of Tollgate write CPU profiles when they end. */
  profile: string | undefined
}

const FULL = { warmupSeconds: 10, seconds: 3, rounds: 3, connections: [1, 16, 64, 256], accounts: 1_000 }
const QUICK = { warmupSeconds: 3, seconds: 1, rounds: 1, connections: [1, 64], accounts: 1_000 }

export const USAGE = `usage: bun run bench [--quick] [--json | --markdown]
  --targets ${targetNames.join(',')}
  --kinds ${kinds.join(',')}
  --connections ${FULL.connections.join(',')}
  --seconds ${FULL.seconds} (of each measurement)   --rounds ${FULL.rounds}   --accounts ${FULL.accounts} (of spread)
  --profile <folder> (CPU profiles of Tollgate's processes)`

/** Reads the command line; throws a message for the user. */
export function readArgs(argv: readonly string[]): BenchArgs {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      targets: { type: 'string' },
      kinds: { type: 'string' },
      connections: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      accounts: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  const defaults = values.quick ? QUICK : FULL
  return {
    output: values.json ? 'json' : values.markdown ? 'markdown' : 'text',
    targets: chosen<TargetName>('--targets', values.targets, targetNames),
    kinds: chosen<Kind>('--kinds', values.kinds, kinds),
    connections: values.connections
      ? values.connections.split(',').map(count => whole('--connections', count))
      : defaults.connections,
    seconds: values.seconds ? whole('--seconds', values.seconds) : defaults.seconds,
    rounds: values.rounds ? whole('--rounds', values.rounds) : defaults.rounds,
    accounts: values.accounts ? whole('--accounts', values.accounts) : defaults.accounts,
    warmupSeconds: defaults.warmupSeconds,
    profile: values.profile,
  }
}

function chosen<T extends string>(flag: string, text: string | undefined, all: readonly T[]): T[] {
  if (text === undefined) return [...all]
  const names = text.split(',')
  const unknown = names.find(name => !all.some(known => known === name))
  if (unknown !== undefined) throw new Error(`${flag}: "${unknown}" is none of ${all.join(', ')}`)
  return all.filter(name => names.includes(name))
}

function whole(flag: string, text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1) throw new Error(`${flag}: "${text}" is not a whole number above 0`)
  return number
}
