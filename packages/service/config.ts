import { type CleanedEnv, cleanEnv, makeValidator, num, port, str, type ValidatorSpec } from 'envalid'
import { Secret } from './secret.ts'

/** A comma separated list; empty entries are dropped. */
export const list = makeValidator<string[]>(text =>
  text
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== ''),
)

export const secret = makeValidator<Secret>(text => {
  if (text === '') throw new Error('must not be empty')
  return new Secret(text)
})

/** Secrets, newest first: the first signs, all are accepted. */
export const secrets = makeValidator<Secret[]>(text => {
  const entries = text.split(',').filter(entry => entry !== '')
  if (entries.length === 0) throw new Error('must name at least one secret')
  return entries.map(entry => new Secret(entry))
})

export { makeValidator, num, port, str }

/** What every service is told. */
export const commonConfig = {
  PORT: port({
    default: 0,
    desc: 'HTTP port of the service (health, metrics and, where it has them, its endpoints); a free one if unset',
  }),
  HOSTS: list({ default: ['127.0.0.1'], desc: 'addresses to listen on' }),
  NATS_URL: str({ default: 'nats://127.0.0.1:4222', desc: 'NATS server' }),
  NATS_PASSWORD: secret({ default: new Secret(''), desc: "password of the service's own NATS user" }),
  LOG_LEVEL: str({ default: 'info', choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] }),
  SUPERVISED: str({ default: '', desc: '1: end when standard input closes, that is, with the supervisor' }),
  DRAIN_MS: num({ default: 10_000, desc: 'time for open requests to finish after SIGTERM' }),
}

/** What a service with its own schema is told besides. */
export const databaseConfig = {
  DATABASE_URL: secret({ desc: "Postgres, as the service's own role" }),
  DATABASE_CONNECTIONS: num({ default: 8, desc: 'connections at most' }),
}

/** What a service behind the router is told besides. */
export const identityConfig = {
  IDENTITY_SECRETS: secrets({ desc: "secrets of the router's identity header, comma separated, newest first" }),
}

/**
 * Reads the environment once and reports every problem together. Throws one `Error` whose message names them all.
 */
export function readEnvironment<S extends Record<string, ValidatorSpec<unknown>>>(
  spec: S,
  env: NodeJS.ProcessEnv,
): CleanedEnv<S> {
  const clean = cleanEnv(env, spec, {
    reporter: ({ errors }) => {
      const problems = Object.entries(errors).map(([name, error]) => `  ${name}: ${error?.message || 'is missing'}`)
      if (problems.length > 0) throw new Error(`the configuration has problems:\n${problems.join('\n')}`)
    },
  })
  // A plain copy: the library's proxy would be asked on hot paths.
  return { ...clean }
}
