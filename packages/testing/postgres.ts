import { createHash, randomBytes } from 'node:crypto'
import { readMigrations } from '@tollgate/db/migrate'
import { type Run, session } from '@tollgate/db/session'
import {
  type DatabaseService,
  databaseServices,
  limitConnections,
  migrationsOf,
  provision,
  type ServiceUrls,
  serviceUrls,
} from '@tollgate/postgres'
import { type OwnCluster, startOwnCluster } from './cluster.ts'

export interface PostgresOptions {
  /** Whose schemas to make; all by default. One service's test does not need the others' migrations. */
  services?: readonly DatabaseService[]
  /** A cluster for this test alone, which it may restart. */
  ownCluster?: boolean
}

export interface TestPostgres extends AsyncDisposable {
  /** Superuser, in the fresh database. */
  adminUrl: string
  /** Per service: its runtime role and its owner role, in the fresh database. */
  urls: Record<DatabaseService, ServiceUrls>
  /** Restarts the cluster on the same port; `immediate` is a crash: no checkpoint, clients cut off. Needs `ownCluster`. */
  restart(options?: { immediate?: boolean }): Promise<void>
  /** Drops the database. */
  stop(): Promise<void>
}

const SECRET = 'test'
/** Changes when a template made by older code must not be taken. */
const TEMPLATE_VERSION = '1'

let shared: Promise<string> | undefined

/** A fresh, migrated database with the real roles: a copy of a template, 30 ms. The cluster ends with the process. */
export async function postgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const services = options.services ?? databaseServices
  const own = options.ownCluster ? await startOwnCluster() : undefined
  const cluster = own?.adminUrl ?? (await sharedCluster())
  const name = `test_${randomBytes(8).toString('hex')}`
  await session(cluster, async run => {
    const template = await ensureTemplate(cluster, run, services)
    await run(`create database ${name} template ${template}`)
    await limitConnections(run, name, services)
  })
  const adminUrl = inDatabase(cluster, name)
  const stop = async () => {
    if (own) await own.stop()
    else await session(cluster, run => run(`drop database if exists ${name} with (force)`))
  }
  return {
    adminUrl,
    urls: serviceUrls({ adminUrl, secret: SECRET }),
    restart: restartOf(own),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** The one of the whole run (`npm test` starts it), else one for this process. */
function sharedCluster(): Promise<string> {
  shared ??= process.env.TEST_DATABASE_ADMIN_URL
    ? Promise.resolve(process.env.TEST_DATABASE_ADMIN_URL)
    : startOwnCluster().then(cluster => cluster.adminUrl)
  return shared
}

function restartOf(own: OwnCluster | undefined): TestPostgres['restart'] {
  if (own) return own.restart
  return () =>
    Promise.reject(new Error('restarting a shared cluster would fail other tests: postgres({ ownCluster: true })'))
}

/** The database that new ones are copied from, made once per cluster and set of migrations. */
async function ensureTemplate(cluster: string, run: Run, services: readonly DatabaseService[]): Promise<string> {
  const name = `template_${await fingerprint(services)}`
  await run("select pg_advisory_lock(hashtextextended('template', 0))")
  const [existing] = await run('select datistemplate as whole from pg_database where datname = $1', [name])
  if (!existing?.whole) {
    await run(`drop database if exists ${name} with (force)`)
    await run(`create database ${name}`)
    await provision({ adminUrl: inDatabase(cluster, name), secret: SECRET, services })
    await run(`alter database ${name} is_template true`)
  }
  await run("select pg_advisory_unlock(hashtextextended('template', 0))")
  return name
}

async function fingerprint(services: readonly DatabaseService[]): Promise<string> {
  const hash = createHash('sha256').update(TEMPLATE_VERSION)
  for (const service of services) {
    const migrations = await readMigrations(migrationsOf(service))
    hash.update(JSON.stringify([service, migrations.map(({ name, checksum }) => [name, checksum])]))
  }
  return hash.digest('hex').slice(0, 16)
}

function inDatabase(cluster: string, name: string): string {
  const url = new URL(cluster)
  url.pathname = `/${name}`
  return url.href
}
