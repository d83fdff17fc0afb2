import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BusUser } from '@tollgate/contracts'
import {
  findNatsServer,
  type NatsUser,
  natsPassword,
  natsPid,
  natsReady,
  natsUsers,
  prepareNats,
  startNats,
} from '@tollgate/nats'
import { freePort } from '@tollgate/process'
import { toolsDir } from './tools.ts'

/** What a client of the bus connects with. */
export interface NatsCredentials {
  url: string
  user: string
  password: string
}

export interface TestNats extends AsyncDisposable {
  url: string
  port: number
  /** What the passwords are derived from. */
  secret: string
  /** The credentials of a service, with the permissions that it has in production. */
  as(user: BusUser): NatsCredentials
  /** Kills nats-server as `kill -9` does; clients see a reset. */
  kill9(): Promise<void>
  /** Starts it again (stops it before, if it runs), with the same port, users and file store. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const SECRET = 'test'

/** A nats-server of its own on a free port, with JetStream, the real users and the real permissions. Ends with this process. */
export async function nats(options: { extraUsers?: NatsUser[] } = {}): Promise<TestNats> {
  const binary = findNatsServer(toolsDir)
  if (!binary) throw new Error('no nats-server: run the tests with `npm test`, which obtains it')
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-nats-'))
  const port = freePort()
  const users = [...natsUsers(SECRET), ...(options.extraUsers ?? [])]
  const server = prepareNats({ binary, folder, port, users, logFile: join(folder, 'log'), remove: true })
  let running = await startNats(server)
  await natsReady(server, running)

  // By its pid: when the guardian's pipe closes, the store goes as well.
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    const pid = natsPid(server)
    if (pid && running.alive()) process.kill(pid, signal)
    await running.exited
  }
  const stop = async () => {
    await running.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    url: server.url,
    port,
    secret: SECRET,
    as: user => ({ url: server.url, user, password: natsPassword(user, SECRET) }),
    kill9: () => end('SIGKILL'),
    async restart() {
      await end('SIGTERM')
      running = await startNats(server)
      await natsReady(server, running)
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
