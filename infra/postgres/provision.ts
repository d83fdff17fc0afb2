import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import type { ServiceName } from '@tollgate/contracts'
import { migrate } from '@tollgate/db/migrate'
import { type Run, session } from '@tollgate/db/session'

/** The services that keep something in Postgres. */
export const databaseServices = ['auth', 'keys', 'billing', 'ledger', 'chain-watcher'] as const satisfies ServiceName[]
export type DatabaseService = (typeof databaseServices)[number]

export interface ServiceUrls {
  /** The role that runs the service: it owns nothing and may do what the migrations grant. */
  runtime: string
  /** The role that owns the schema and migrates it. */
  owner: string
}

export interface ProvisionOptions {
  /** Of a superuser, or of a role with CREATEROLE that owns the database. */
  adminUrl: string
  /** The roles' passwords are derived from it. */
  secret: string
  services?: readonly DatabaseService[]
  onMigrated?: (service: DatabaseService, files: string[]) => void
}

/** A query of a service that takes longer than this is a fault, and would hold its locks. */
const STATEMENT_TIMEOUT = '5s'
const servicesFolder = join(import.meta.dir, '..', '..', 'services')

/** Roles, schemas and migrations of the services, in the database of the URL. Repeatable, and safe to run twice at once. */
export async function provision(options: ProvisionOptions): Promise<Record<DatabaseService, ServiceUrls>> {
  const { adminUrl, services = databaseServices } = options
  await session(adminUrl, async run => {
    await run("select pg_advisory_lock(hashtextextended('provision', 0))")
    await run(services.map(service => rolesAndSchema(service, options.secret)).join('\n'))
    await limitConnections(run, new URL(adminUrl).pathname.slice(1), services)
  })
  const urls = serviceUrls(options)
  await Promise.all(
    services.map(async service => {
      const directory = migrationsOf(service)
      const files = await migrate({ url: urls[service].owner, schema: schemaOf(service), directory })
      if (files.length > 0) options.onMigrated?.(service, files)
    }),
  )
  return urls
}

/** Only the services' roles may connect to the database: access lists are not copied from a template. */
export async function limitConnections(run: Run, database: string, services: readonly DatabaseService[]) {
  const roles = services.flatMap(service => [schemaOf(service), ownerOf(service)]).join(', ')
  await run(`revoke all on database "${database}" from public; grant connect on database "${database}" to ${roles}`)
}

export function migrationsOf(service: DatabaseService): string {
  return join(servicesFolder, service, 'migrations')
}

/** Where every service connects, in the database of `adminUrl`. */
export function serviceUrls({ adminUrl, secret }: ProvisionOptions): Record<DatabaseService, ServiceUrls> {
  const as = (role: string) => {
    const url = new URL(adminUrl)
    url.username = role
    url.password = passwordOf(role, secret)
    return url.href
  }
  const entries = databaseServices.map(service => [
    service,
    { runtime: as(schemaOf(service)), owner: as(ownerOf(service)) },
  ])
  return Object.fromEntries(entries) as Record<DatabaseService, ServiceUrls> // one entry per service, by construction
}

function schemaOf(service: DatabaseService): string {
  return service.replaceAll('-', '_')
}

function ownerOf(service: DatabaseService): string {
  return `${schemaOf(service)}_owner`
}

function passwordOf(role: string, secret: string): string {
  return createHmac('sha256', secret).update(`postgres role ${role}`).digest('hex')
}

/** What the runtime role may do beyond reaching its schema is granted by the migrations, table by table. */
function rolesAndSchema(service: DatabaseService, secret: string): string {
  const [schema, owner] = [schemaOf(service), ownerOf(service)]
  return `
    ${role(owner, secret)}
    ${role(schema, secret)}
    alter role ${schema} set statement_timeout = '${STATEMENT_TIMEOUT}';
    alter role ${schema} set idle_in_transaction_session_timeout = '${STATEMENT_TIMEOUT}';
    grant ${owner} to current_user;
    create schema if not exists ${schema} authorization ${owner};
    grant usage on schema ${schema} to ${schema};
    alter default privileges for role ${owner} revoke execute on functions from public;`
}

/** Roles belong to the whole cluster, where the database's lock does not keep another run away. */
function role(name: string, secret: string): string {
  return `
    do $$ begin
      create role ${name};
    exception when duplicate_object or unique_violation then null;
    end $$;
    alter role ${name} login password '${passwordOf(name, secret)}';
    alter role ${name} set search_path = ${name.replace(/_owner$/, '')};`
}
