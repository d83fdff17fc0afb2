import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandOf, eventually, type Running, startGuarded, tail } from '@tollgate/process'
import { installBinaries } from './binaries.ts'
import { createHome, type Home } from './home.ts'

export interface ClusterOptions {
  home: Home
  /** Where the binaries are copied as root, when that is not `home`: tests share one copy. */
  binariesHome?: Home
  port: number
  /** Of the superuser `postgres`. */
  password: string
  logFile: string
  /** `throwaway` for tests: nothing survives the machine's crash (a crash of Postgres alone it does), and the data go at the end. */
  durability: 'durable' | 'throwaway'
}

export interface Cluster {
  data: string
  adminUrl: string
  options: ClusterOptions
  binaries: string
}

const STOP_WITHIN_MS = 15_000
const START_WITHIN_MS = 60_000

/** Creates the cluster if there is none yet, and writes its configuration. Does not start it. */
export async function prepareCluster(options: ClusterOptions): Promise<Cluster> {
  createHome(options.home)
  const binaries = installBinaries(options.binariesHome ?? options.home)
  const data = join(options.home.folder, 'data')
  if (!existsSync(join(data, 'PG_VERSION'))) await initialise(data, binaries, options)
  writeOwned(join(data, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n', options.home)
  writeOwned(join(data, 'postgresql.conf'), configuration(options), options.home)
  const adminUrl = `postgres://postgres:${options.password}@127.0.0.1:${options.port}/postgres`
  return { data, adminUrl, options, binaries }
}

/** Starts Postgres below a guardian; resolves at once. A server that an earlier run left on these data is stopped first. */
export async function startCluster({ data, binaries, options }: Cluster): Promise<Running> {
  await stopLeftover(data)
  return startGuarded({
    command: [join(binaries, 'bin', 'postgres'), '-D', data],
    env: environment,
    logFile: options.logFile,
    stopSignal: 'INT',
    stopWithinMs: STOP_WITHIN_MS,
    account: options.home.account,
    ...(options.durability === 'throwaway' && { remove: options.home.folder }),
  })
}

/** Resolves when Postgres takes connections; throws with the end of its log when it ended instead. */
export async function clusterReady({ data, options }: Cluster, server: Running): Promise<void> {
  await eventually(() => !server.alive() || postmasterStatus(data) === 'ready', {
    withinMs: START_WITHIN_MS,
    everyMs: 10,
  })
  if (!server.alive()) throw new Error(`Postgres did not start:\n${tail(options.logFile)}`)
}

/** The pid of the running postmaster, from its own file. */
export function postmasterPid(data: string): number | undefined {
  const pid = Number(postmasterLines(data)[0])
  return Number.isInteger(pid) && pid > 0 ? pid : undefined
}

const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

async function initialise(data: string, binaries: string, { home, password, durability }: ClusterOptions) {
  const partial = `${data}.partial`
  const passwordFile = join(home.folder, 'password')
  rmSync(partial, { recursive: true, force: true })
  writeOwned(passwordFile, password, home)
  const initdb = Bun.spawn(
    [
      join(binaries, 'bin', 'initdb'),
      ...['--pgdata', partial, '--username', 'postgres', '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
      // The C.UTF-8 of Postgres itself sorts the same on every machine.
      ...['--encoding', 'UTF8', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
      ...['--no-instructions', ...(durability === 'throwaway' ? ['--no-sync'] : [])],
    ],
    { cwd: '/', env: environment, stdout: 'ignore', stderr: 'pipe', ...home.account },
  )
  const problems = await initdb.stderr.text()
  const status = await initdb.exited
  rmSync(passwordFile)
  if (status !== 0) throw new Error(`initdb failed (${status}): ${problems.trim()}`)
  // A cluster exists when it is whole: initdb that broke off leaves no `data`.
  renameSync(partial, data)
}

/** Few connections do the work (every write is one statement), so memory for many is not set aside. */
function configuration({ port, durability }: ClusterOptions): string {
  const settings: Record<string, string> = {
    listen_addresses: "'127.0.0.1'",
    port: String(port),
    unix_socket_directories: "''",
    max_connections: '200',
    shared_buffers: '128MB',
    synchronous_commit: 'on',
    // Redo after a crash took 16–24 s with 4 GB; money waits for it.
    max_wal_size: '512MB',
    // Files of WAL are used again. To make one stalls every commit for tens of milliseconds, once a second at full load.
    min_wal_size: '256MB',
    // The holds and balances are updated in place many times a second.
    autovacuum_naptime: '10s',
    password_encryption: 'scram-sha-256',
    timezone: "'UTC'",
    log_timezone: "'UTC'",
    ...(durability === 'throwaway' && { fsync: 'off', full_page_writes: 'off', max_connections: '400' }),
  }
  return Object.entries(settings)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('')
}

function writeOwned(file: string, text: string, { account }: Home): void {
  writeFileSync(file, text, { mode: 0o600 })
  if (account) chownSync(file, account.uid, account.gid)
}

function postmasterLines(data: string): string[] {
  try {
    return readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}

/** The eighth line is what pg_ctl waits for. */
function postmasterStatus(data: string): string | undefined {
  return postmasterLines(data)[7]?.trim()
}

/** Its guardian was killed too, or the machine crashed and the file is all there is. */
async function stopLeftover(data: string): Promise<void> {
  const pid = postmasterPid(data)
  if (!pid || !isPostmasterOf(pid, data)) {
    rmSync(join(data, 'postmaster.pid'), { force: true })
    return
  }
  process.kill(pid, 'SIGINT')
  await eventually(() => !isPostmasterOf(pid, data), { withinMs: STOP_WITHIN_MS, everyMs: 50 })
}

/** The pid may be another program's by now. */
function isPostmasterOf(pid: number, data: string): boolean {
  const command = commandOf(pid) ?? ''
  return command.includes('postgres') && command.includes(data)
}
