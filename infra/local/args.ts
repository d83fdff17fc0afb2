import { type ServiceName, serviceNames } from '@tollgate/contracts'

export interface StartArgs {
  fresh: boolean
  /** Removes the state again when the stack stops: for tests. */
  throwaway: boolean
  /** Replicas per service; one where nothing is said. */
  scale: Partial<Record<ServiceName, number>>
}

/** More than anyone starts on one machine on purpose. */
const MAX_REPLICAS = 64
const USAGE = 'usage: npm start -- [--fresh] [--throwaway] [--scale <service>=<replicas>,...]'

/**
 * Reads the command line. npm takes flags without `--` before them for its own and hands them on in the environment
 * (`npm start --fresh` sets `npm_config_fresh`), so those are read too. Throws a message for the user.
 */
export function parseArgs(argv: readonly string[], env: NodeJS.ProcessEnv = {}): StartArgs {
  const words = [...argv]
  if (env.npm_config_fresh === 'true') words.push('--fresh')
  if (env.npm_config_scale === 'true') words.unshift('--scale')
  else if (env.npm_config_scale) words.push(`--scale=${env.npm_config_scale}`)

  const args: StartArgs = { fresh: false, throwaway: false, scale: {} }
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--fresh') args.fresh = true
    else if (word === '--throwaway') args.throwaway = true
    else if (word === '--scale') Object.assign(args.scale, parseScale(words.shift() ?? ''))
    else if (word.startsWith('--scale=')) Object.assign(args.scale, parseScale(word.slice('--scale='.length)))
    else throw new Error(`unknown argument "${word}"\n${USAGE}`)
  }
  return args
}

function parseScale(text: string): StartArgs['scale'] {
  const scale: StartArgs['scale'] = {}
  for (const entry of text.split(',')) {
    const [name = '', count = ''] = entry.split('=')
    const service = serviceNames.find(known => known === name)
    const replicas = Number(count)
    if (!service) throw new Error(`--scale: no service "${name}" (there are ${serviceNames.join(', ')})\n${USAGE}`)
    if (!/^\d+$/.test(count) || replicas < 1 || replicas > MAX_REPLICAS) {
      throw new Error(`--scale ${name}: expected 1 to ${MAX_REPLICAS}, not "${count}"\n${USAGE}`)
    }
    if (service === 'router' && replicas > 1) throw new Error('--scale router: one port, one router')
    scale[service] = replicas
  }
  return scale
}
