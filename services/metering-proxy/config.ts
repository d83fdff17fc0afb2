import { readFileSync } from 'node:fs'
import { commonConfig, identityConfig, num, readEnvironment, Secret, secrets, str } from '@tollgate/service'
import { type Catalogue, readCatalogue } from './catalogue.ts'

/** Reads the environment and the catalogue. Throws one `Error` that names every problem of either. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const values = readEnvironment(
    {
      ...commonConfig,
      ...identityConfig,
      MODELS_FILE: str({ desc: 'the model catalogue, a JSON file' }),
      FIRST_EVENT_MS: num({ default: 120_000, desc: "silence of a provider before a stream's first event" }),
      IDLE_MS: num({ default: 90_000, desc: 'silence of a provider within an answer' }),
      TOTAL_MS: num({ default: 600_000, desc: 'longest completion; the SDKs wait as long' }),
      ABANDONED_MS: num({ default: 30_000, desc: 'how long a stream is read on for its usage after its caller left' }),
      PING_MS: num({ default: 5_000, desc: 'silence after which a stream gets a comment' }),
      HOLD_TTL_MS: num({ default: 60_000, desc: 'life of a hold that is not extended' }),
      EXTEND_EVERY_MS: num({ default: 5_000, desc: 'between extensions: the most work that a crash gives away' }),
      REPLAY_SECRETS: secrets({
        default: [],
        desc: 'secrets that seal kept answers, newest first; the identity secrets by default',
      }),
      UNSETTLED_MAX: num({ default: 10_000, desc: 'charges that may wait in memory; beyond it nothing new is begun' }),
    },
    env,
  )
  const identitySecrets = values.IDENTITY_SECRETS.map(secret => secret.reveal())
  const replaySecrets = values.REPLAY_SECRETS.map(secret => secret.reveal())
  return {
    ...values,
    catalogue: readModels(values.MODELS_FILE, env),
    identitySecrets,
    replaySecrets: replaySecrets.length > 0 ? replaySecrets : identitySecrets,
  }
}

/** Keys of providers are read once, here, under the names that the catalogue gives. */
function readModels(file: string, env: NodeJS.ProcessEnv): Catalogue {
  const keyOf = (variable: string) => {
    const key = env[variable]
    return key ? new Secret(key) : undefined
  }
  try {
    return readCatalogue(JSON.parse(readFileSync(file, 'utf8')), keyOf)
  } catch (cause) {
    throw new Error(`MODELS_FILE ${file}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}
