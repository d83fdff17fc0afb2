import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { session } from '@tollgate/db/session'
import { natsReady, natsUsers, obtainNatsServer, prepareNats, startNats } from '@tollgate/nats'
import { clusterReady, homeOf, prepareCluster, startCluster, testHome } from '@tollgate/postgres'
import { eventually, startSpawned } from '@tollgate/process'
import type { ChainInfo } from './gateway-json.ts'
import type { Stage } from './stage.ts'

const DATABASE = 'tollgate'
const STOP_WITHIN_MS = 5_000

export const root = join(import.meta.dir, '..', '..')

/** Starts the embedded Postgres; resolves with the superuser's URL in the stack's database. */
export async function startPostgres(stage: Stage): Promise<string> {
  const cluster = await prepareCluster({
    home: homeOf(stage.folder.path),
    port: stage.ports.of('postgres'),
    password: stage.secrets.postgres,
    logFile: stage.folder.log('postgres'),
    ...(stage.throwaway
      ? { durability: 'throwaway' as const, binariesHome: testHome() }
      : { durability: 'durable' as const }),
  })
  await stage.keep({
    name: 'postgres',
    script: cluster.data,
    start: () => startCluster(cluster),
    isReady: running => clusterReady(cluster, running).then(() => true),
  })
  await session(cluster.adminUrl, async run => {
    const [exists] = await run('select 1 from pg_database where datname = $1', [DATABASE])
    if (!exists) await run(`create database ${DATABASE}`)
  })
  return cluster.adminUrl.replace(/postgres$/, DATABASE)
}

/** Starts nats-server, which it obtains first where there is none; resolves with its URL. */
export async function startNatsServer(stage: Stage): Promise<string> {
  const server = prepareNats({
    binary: await obtainNatsServer(join(root, '.tools'), stage.output.line),
    folder: stage.folder.nats,
    port: stage.ports.of('nats'),
    users: natsUsers(stage.secrets.nats),
    logFile: stage.folder.log('nats'),
  })
  await stage.keep({
    name: 'nats',
    script: server.configFile,
    start: () => startNats(server),
    isReady: running => natsReady(server, running).then(() => true),
  })
  return server.url
}

/** Starts the local chain; resolves with its description. */
export async function startLocalChain(stage: Stage): Promise<ChainInfo> {
  const port = stage.ports.of('chain', { adjacent: 1 })
  const script = 'infra/chain/main.ts'
  await stage.keep({
    name: 'chain',
    script,
    start: () =>
      startSpawned({
        command: [process.execPath, script],
        cwd: root,
        env: { ...stage.environment, CHAIN_PORT: String(port), CHAIN_STATE_DIR: stage.folder.chain },
        logFile: stage.folder.log('chain'),
        stopWithinMs: STOP_WITHIN_MS,
      }),
    isReady: () => answers(`http://127.0.0.1:${port}/health`),
  })
  const file = join(stage.folder.chain, 'chain.json')
  return eventually(() => JSON.parse(readFileSync(file, 'utf8')) as ChainInfo) // written by infra/chain
}

/** Starts the simulated upstream; resolves with its base URL, as a provider of the catalogue has it. */
export async function startUpstream(stage: Stage): Promise<string> {
  const port = stage.ports.of('upstream')
  const script = 'infra/upstream/main.ts'
  await stage.keep({
    name: 'upstream',
    script,
    start: () =>
      startSpawned({
        command: [process.execPath, script],
        cwd: root,
        env: { ...stage.environment, PORT: String(port) },
        logFile: stage.folder.log('upstream'),
        stopWithinMs: STOP_WITHIN_MS,
      }),
    isReady: () => answers(`http://127.0.0.1:${port}/health`),
  })
  return `http://127.0.0.1:${port}/v1`
}

export async function answers(url: string): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok
}
