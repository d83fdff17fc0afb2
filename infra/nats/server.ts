import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandOf, eventually, type Running, startGuarded, tail } from '@tollgate/process'
import { type NatsUser, natsConfig } from './config.ts'

export interface NatsServerOptions {
  /** Of the nats-server binary. */
  binary: string
  folder: string
  port: number
  users: readonly NatsUser[]
  logFile: string
  /** For tests: the folder goes when the server ends. */
  remove?: boolean
}

export interface NatsServer {
  url: string
  options: NatsServerOptions
  configFile: string
  pidFile: string
}

const HOST = '127.0.0.1'
const STOP_WITHIN_MS = 10_000
const START_WITHIN_MS = 30_000

/** Writes the configuration; the store of an earlier run stays. Does not start the server. */
export function prepareNats(options: NatsServerOptions): NatsServer {
  const { folder, port, users } = options
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const configFile = join(folder, 'nats-server.conf')
  const pidFile = join(folder, 'nats-server.pid')
  const storeDir = join(folder, 'store')
  const config = natsConfig({ users, host: HOST, port, serverName: 'tollgate', storeDir, pidFile })
  writeFileSync(configFile, config, { mode: 0o600 })
  return { url: `nats://${HOST}:${port}`, options, configFile, pidFile }
}

/** Starts nats-server below a guardian; resolves at once. A server that an earlier run left on this store is stopped first. */
export async function startNats({ options, configFile, pidFile }: NatsServer): Promise<Running> {
  await stopLeftover(pidFile, configFile)
  return startGuarded({
    command: [options.binary, '--config', configFile],
    env: { PATH: '/usr/bin:/bin', TZ: 'UTC' },
    logFile: options.logFile,
    stopSignal: 'TERM',
    stopWithinMs: STOP_WITHIN_MS,
    ...(options.remove && { remove: options.folder }),
  })
}

/** Resolves when the server greets; throws with the end of its log when it ended instead. */
export async function natsReady({ options }: NatsServer, server: Running): Promise<void> {
  await eventually(async () => !server.alive() || (await greets(options.port)), {
    withinMs: START_WITHIN_MS,
    everyMs: 10,
  })
  if (!server.alive()) throw new Error(`nats-server did not start:\n${tail(options.logFile)}`)
}

/** The pid of the running server, from its own file. */
export function natsPid({ pidFile }: Pick<NatsServer, 'pidFile'>): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').trim())
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

async function greets(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = await Bun.connect({
    hostname: HOST,
    port,
    socket: {
      data: (_socket, bytes) => resolve(bytes.toString().startsWith('INFO ')),
      close: () => resolve(false),
      error: () => resolve(false),
    },
  })
  try {
    return await promise
  } finally {
    socket.end()
  }
}

/** Its guardian was killed too, or the machine crashed and the file is all there is. */
async function stopLeftover(pidFile: string, configFile: string): Promise<void> {
  const pid = natsPid({ pidFile })
  if (pid && isServerOf(pid, configFile)) {
    process.kill(pid, 'SIGTERM')
    await eventually(() => !isServerOf(pid, configFile), { withinMs: STOP_WITHIN_MS, everyMs: 50 })
  }
  rmSync(pidFile, { force: true })
}

/** The pid may be another program's by now. */
function isServerOf(pid: number, configFile: string): boolean {
  const command = commandOf(pid) ?? ''
  return command.includes('nats-server') && command.includes(configFile)
}
