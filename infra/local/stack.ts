import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BusUser } from '@tollgate/contracts'
import { natsPassword } from '@tollgate/nats'
import { provision } from '@tollgate/postgres'
import { portIsFree } from '@tollgate/process'
import type { StartArgs } from './args.ts'
import { claim } from './claim.ts'
import { baseEnvironment, DEFAULT_APP_ORIGIN, type Surroundings } from './environment.ts'
import { type Folder, openFolder, type Secrets, wipe, writeWhole } from './folder.ts'
import type { ChainInfo, GatewayJson } from './gateway-json.ts'
import { localCatalogue } from './models.ts'
import type { Output } from './output.ts'
import { startLocalChain, startNatsServer, startPostgres, startUpstream } from './parts.ts'
import { openPorts } from './ports.ts'
import { endLeftovers, openRegistry } from './registry.ts'
import { isReplicaOf, planReplicas, startService, stopOrder, urlsOf } from './services.ts'
import { createStage, type Stage } from './stage.ts'

export interface StackOptions extends StartArgs {
  folder: Folder
  routerPort: number
  env: Record<string, string | undefined>
  output: Output
}

export interface Stack {
  /** Resolves when every service is ready and gateway.json is written. */
  ready: Promise<GatewayJson>
  /** Services before NATS before Postgres; resolves when nothing is left. */
  stop(): Promise<void>
  /** At once, in no order. */
  kill(): void
}

/** What stands below the services, embedded or as the user set it. */
interface Ground {
  natsUrl: string
  adminUrl: string
  /** Null where a MODELS_FILE names other providers. */
  upstream: string | null
  /** Undefined where SOLANA_RPC_URL names another chain. */
  chain: ChainInfo | undefined
}

/** Claims the folder and starts everything in it. Throws a message for the user; then `stop` of nobody is needed. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { folder, output } = options
  claim(folder)
  await endLeftovers(folder)
  if (options.fresh) wipe(folder)
  const secrets = openFolder(folder)
  const registry = openRegistry(folder)
  const environment = baseEnvironment(options.env)
  const ports = openPorts(folder.portsJson)
  const { throwaway } = options
  const stage = createStage({ folder, secrets, ports, output, environment, registry, throwaway })
  return { ready: bringUp(stage, options), stop: () => bringDown(stage), kill: stage.killAll }
}

async function bringUp(stage: Stage, options: StackOptions): Promise<GatewayJson> {
  const { env, routerPort, output } = options
  const routerHosts = freeLoopbacks(routerPort)
  const ground = await startGround(stage, env)
  const around = await surroundings(stage, ground, { env, routerHosts })
  const replicas = planReplicas(stage, options.scale, routerPort)
  around.urls = urlsOf(replicas)
  await output.step('services', () => Promise.all(replicas.map(replica => startService(stage, replica, around))))
  return stage.registry.publish(description(ground, around, options))
}

/** The parts don't need each other, so they start together. */
async function startGround(stage: Stage, env: StackOptions['env']): Promise<Ground> {
  const { step } = stage.output
  const [adminUrl, natsUrl, chain, upstream] = await Promise.all([
    env.DATABASE_URL || step('postgres', () => startPostgres(stage)),
    env.NATS_URL || step('nats', () => startNatsServer(stage)),
    env.SOLANA_RPC_URL ? undefined : step('chain', () => startLocalChain(stage)),
    env.MODELS_FILE ? null : step('upstream', () => startUpstream(stage)),
  ])
  return { adminUrl, natsUrl, chain, upstream }
}

async function surroundings(
  stage: Stage,
  { natsUrl, adminUrl, upstream, chain }: Ground,
  { env, routerHosts }: { env: StackOptions['env']; routerHosts: string },
): Promise<Surroundings> {
  const { secrets, folder, output } = stage
  const databaseUrls = await output.step('migrations', () => provision({ adminUrl, secret: secrets.roles }))
  if (upstream) writeWhole(folder.modelsJson, localCatalogue(upstream, Boolean(env.OPENAI_API_KEY)))
  return {
    user: env,
    natsUrl: withoutCredentials(natsUrl),
    natsPassword: passwordsFor(natsUrl, env, secrets),
    databaseUrls,
    identitySecret: secrets.identity,
    modelsFile: env.MODELS_FILE ? resolve(env.MODELS_FILE) : folder.modelsJson,
    solanaNetwork: chain ? 'localnet' : 'devnet',
    solanaRpcUrls: chain?.rpc ?? env.SOLANA_RPC_URL ?? '',
    chain,
    routerHosts,
    urls: {},
  }
}

/** The users of a server of one's own have the passwords of the same derivation, from NATS_SECRET, or one that its URL names. */
function passwordsFor(natsUrl: string, env: StackOptions['env'], secrets: Secrets): (user: BusUser) => string {
  const inUrl = decodeURIComponent(new URL(natsUrl).password)
  if (inUrl) return () => inUrl
  const secret = env.NATS_URL ? (env.NATS_SECRET ?? '') : secrets.nats
  return user => natsPassword(user, secret)
}

function withoutCredentials(natsUrl: string): string {
  const url = new URL(natsUrl)
  return `${url.protocol}//${url.host}`
}

function description(
  ground: Ground,
  around: Surroundings,
  { env, routerPort }: StackOptions,
): Omit<GatewayJson, 'services'> {
  const nats = new URL(ground.natsUrl)
  nats.username ||= 'operator'
  nats.password ||= around.natsPassword('operator')
  const { rpc, mint, decimals, treasury, payer } = ground.chain ?? otherChain(around)
  return {
    router: `http://localhost:${routerPort}`,
    appOrigin: env.APP_ORIGIN || DEFAULT_APP_ORIGIN,
    nats: nats.href,
    postgres: ground.adminUrl,
    upstream: ground.upstream,
    chain: { rpc, mint, decimals, treasury, payer },
  }
}

function otherChain({ user, solanaRpcUrls }: Surroundings): GatewayJson['chain'] {
  return {
    rpc: solanaRpcUrls,
    mint: user.TOKEN_MINT ?? null,
    decimals: null,
    treasury: user.TREASURY ?? null,
    payer: null,
  }
}

/** The loopback addresses that the router listens on: both where the machine has both. */
function freeLoopbacks(port: number): string {
  if (!portIsFree(port))
    throw new Error(`Port ${port} is taken by another program. PORT=${port + 1} npm start takes another.`)
  return portIsFree(port, '::1') ? '127.0.0.1,::1' : '127.0.0.1'
}

async function bringDown(stage: Stage): Promise<void> {
  const { folder, registry, throwaway } = stage
  stage.close()
  registry.withdraw()
  for (const services of stopOrder) await stage.stop(name => isReplicaOf(name, services))
  await stage.stop(name => name === 'chain' || name === 'upstream')
  await stage.stop(name => name === 'nats')
  await stage.stop(name => name === 'postgres')
  if (throwaway) wipe(folder)
  rmSync(folder.processesJson, { force: true })
  rmSync(folder.pidFile, { force: true })
}
