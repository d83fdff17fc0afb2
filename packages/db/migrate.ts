import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Run, session } from './session.ts'

export interface MigrateOptions {
  /** Of the role that owns the schema: what a migration creates belongs to it. */
  url: string
  schema: string
  directory: string
}

interface Migration {
  name: string
  text: string
  checksum: string
}

/** A migration that waits longer for a lock would make every query behind it wait too. */
const LOCK_TIMEOUT = '10s'

/**
 * Applies the `*.sql` files of the directory that the schema has not seen, in the order of their names, and returns the
 * names applied. Forward only: refuses when an applied file was changed, is gone, or a new one sorts before it.
 * Safe to call from several processes at once. A directory that does not exist has no migrations.
 */
export async function migrate({ url, schema, directory }: MigrateOptions): Promise<string[]> {
  const migrations = await readMigrations(directory)
  if (migrations.length === 0) return []
  return session(
    url,
    async run => {
      await run('select pg_advisory_lock(hashtextextended($1, 0))', [`migrate ${schema}`])
      await run(
        `create table if not exists "${schema}".migration (
           name text primary key, checksum text not null, applied_at timestamptz not null default now())`,
      )
      const pending = unapplied(migrations, await applied(run, schema), schema)
      for (const migration of pending) await apply(run, schema, migration)
      return pending.map(migration => migration.name)
    },
    { search_path: schema, lock_timeout: LOCK_TIMEOUT },
  )
}

export async function readMigrations(directory: string): Promise<Migration[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files = names.filter(name => name.endsWith('.sql')).sort()
  return Promise.all(
    files.map(async name => {
      const text = await readFile(join(directory, name), 'utf8')
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

async function applied(run: Run, schema: string): Promise<Map<string, string>> {
  const rows = await run(`select name, checksum from "${schema}".migration`)
  return new Map(rows.map(row => [String(row.name), String(row.checksum)]))
}

function unapplied(migrations: Migration[], done: Map<string, string>, schema: string): Migration[] {
  const last = [...done.keys()].sort().at(-1) ?? ''
  const known = new Map(migrations.map(migration => [migration.name, migration]))
  const gone = [...done.keys()].filter(name => !known.has(name)).map(name => `${name} was applied and is gone`)
  const changed = migrations
    .filter(({ name, checksum }) => done.has(name) && done.get(name) !== checksum)
    .map(({ name }) => `${name} was changed after it was applied`)
  const late = migrations
    .filter(({ name }) => !done.has(name) && name < last)
    .map(({ name }) => `${name} is new but sorts before ${last}`)
  const problems = [...gone, ...changed, ...late]
  if (problems.length > 0) throw new Error(`migrations of ${schema}: ${problems.join('; ')}`)
  return migrations.filter(({ name }) => !done.has(name))
}

/** The file and its record are one message of the simple protocol, hence one transaction. */
async function apply(run: Run, schema: string, { name, text, checksum }: Migration): Promise<void> {
  try {
    await run(`${text}\n;insert into "${schema}".migration (name, checksum) values ('${name}', '${checksum}')`)
  } catch (cause) {
    throw new Error(`migration ${schema}/${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}
