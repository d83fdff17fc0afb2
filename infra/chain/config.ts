export type Config = {
  port: number
  stateDir: string | undefined
  slotMs: number
  supervised: boolean
  faultsOverHttp: boolean
}

const DEFAULT_PORT = 8899
const DEFAULT_SLOT_MS = 400
/** The WebSocket needs the port after it. */
const MAX_PORT = 65_534
const MAX_SLOT_MS = 60_000

/** Reads the environment; throws one error that names every problem. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const integer = (name: string, fallback: number, max: number) => {
    const value = Number(env[name] || fallback)
    if (!Number.isInteger(value) || value < 0 || value > max)
      problems.push(`${name} must be an integer from 0 to ${max}`)
    return value
  }
  const config = {
    port: integer('CHAIN_PORT', DEFAULT_PORT, MAX_PORT),
    stateDir: env.CHAIN_STATE_DIR || undefined,
    slotMs: integer('CHAIN_SLOT_MS', DEFAULT_SLOT_MS, MAX_SLOT_MS),
    supervised: env.SUPERVISED === '1',
    faultsOverHttp: env.CHAIN_FAULTS === '1',
  }
  if (problems.length > 0) throw new Error(problems.join('; '))
  return config
}
