import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commonConfig, databaseConfig, num, readEnvironment, secret } from '@tollgate/service'

/** The ledger's settings; the only reader of the environment. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return readEnvironment(
    {
      ...commonConfig,
      ...databaseConfig,
      LANES: num({ default: 2, desc: 'batches under way at once: while one is answered, Postgres works on the other' }),
      AUDIT_EVERY_MS: num({ default: 600_000, desc: 'pause between two audits of the whole ledger' }),
    },
    env,
  )
}

/** What the retention command is told. */
export function readRetentionConfig(env: NodeJS.ProcessEnv) {
  return readEnvironment(
    {
      DATABASE_OWNER_URL: secret({ desc: "Postgres, as the role that owns the ledger's schema, or an administrator" }),
      JOURNAL_KEEP_DAYS: num({ default: 400, desc: 'age from which months of the journal are dropped' }),
      // The queue of settlements keeps a week, events a month: an id that old is not repeated any more.
      OP_KEEP_DAYS: num({
        default: 35,
        desc: 'age from which operations are forgotten; credits and adjustments never are',
      }),
      TIMEOUT_MS: num({ default: 600_000, desc: 'time for one statement' }),
    },
    env,
  )
}

/** The database that the audit asks: the one it is told, else that of the running local stack. */
export function readAuditConfig(env: NodeJS.ProcessEnv): string {
  const told = env.DATABASE_ADMIN_URL ?? env.LEDGER_DATABASE_URL ?? env.DATABASE_URL
  if (told) return told
  const file = join(env.LOCAL_DIR ?? join(import.meta.dir, '..', '..', '.local'), 'gateway.json')
  try {
    return String(JSON.parse(readFileSync(file, 'utf8')).postgres)
  } catch (cause) {
    throw new Error(`no DATABASE_ADMIN_URL, and no running stack described in ${file}`, { cause })
  }
}
