import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface OperatorConfig {
  databaseUrl: string
  nats: { url: string; password: string }
}

/** Where the operator's command works: the environment's word, else the running local stack's. */
export function readOperatorConfig(env: NodeJS.ProcessEnv = process.env): OperatorConfig {
  const { DATABASE_URL, NATS_URL, NATS_PASSWORD = '' } = env
  if (DATABASE_URL && NATS_URL) return { databaseUrl: DATABASE_URL, nats: { url: NATS_URL, password: NATS_PASSWORD } }
  const file = join(env.LOCAL_DIR ?? join(import.meta.dir, '..', '..', '..', '.local'), 'gateway.json')
  try {
    const { postgres, nats } = JSON.parse(readFileSync(file, 'utf8'))
    const { host, password } = new URL(nats)
    return { databaseUrl: postgres, nats: { url: `nats://${host}`, password: decodeURIComponent(password) } }
  } catch (cause) {
    throw new Error(`no DATABASE_URL and NATS_URL, and no running stack described in ${file}`, { cause })
  }
}
