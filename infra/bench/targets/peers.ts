import { join } from 'node:path'
import { eventually, freePort, startGuarded, startSpawned } from '@tollgate/process'
import { ANY_CREDENTIAL, type Started, simulatedModel, type Target } from './target.ts'

/** Where a target is started. */
export interface Place {
  /** For logs. */
  folder: string
  env: Record<string, string>
}

/** As a peer is run in production; Bun lets 256 requests of a process run at once unless it is told otherwise. */
export function placeIn(folder: string): Place {
  const { PATH = '', HOME = '' } = process.env
  return { folder, env: { PATH, HOME, NODE_ENV: 'production', BUN_CONFIG_MAX_HTTP_REQUESTS: '20000' } }
}

export interface StartedUpstream extends Started {
  /** Without `/v1`. */
  origin: string
  pid: number
}

const root = join(import.meta.dir, '..', '..', '..')
const STOP_WITHIN_MS = 5_000
const START_WITHIN_MS = 15_000

/** The simulated upstream, which every target asks. */
export async function startSimulatedUpstream({ folder, env }: Place): Promise<StartedUpstream> {
  const port = freePort()
  const spawned = startSpawned({
    command: [process.execPath, 'infra/upstream/main.ts'],
    cwd: root,
    env: { ...env, PORT: String(port) },
    logFile: join(folder, 'upstream.log'),
    stopWithinMs: STOP_WITHIN_MS,
  })
  const origin = `http://127.0.0.1:${port}`
  await eventually(() => answers(`${origin}/health`), { withinMs: START_WITHIN_MS })
  const target = passThrough('upstream', { origin, roots: [spawned.pid] })
  return { targets: [target], stop: () => spawned.stop(), origin, pid: spawned.pid }
}

/** The bare one-hop proxy before the upstream. */
export async function startBareProxy({ folder, env }: Place, upstream: StartedUpstream): Promise<Started> {
  const port = freePort()
  const spawned = startSpawned({
    command: [process.execPath, 'infra/bench/targets/bare-proxy.ts'],
    cwd: root,
    env: { ...env, PORT: String(port), UPSTREAM: upstream.origin },
    logFile: join(folder, 'proxy.log'),
    stopWithinMs: STOP_WITHIN_MS,
  })
  const origin = `http://127.0.0.1:${port}`
  await eventually(() => answers(`${origin}/health`), { withinMs: START_WITHIN_MS })
  const target = passThrough('proxy', { origin, roots: [spawned.pid, upstream.pid] })
  return { targets: [target], stop: () => spawned.stop() }
}

/**
 * Portkey's open-source gateway, run by Bun (Node answers its streams with 500), told by headers to pass everything to the
 * upstream: no key look-up, no cache, no guardrails.
 */
export async function startPortkey({ folder, env }: Place, upstream: StartedUpstream): Promise<Started> {
  const port = freePort()
  const script = Bun.resolveSync('@portkey-ai/gateway/build/start-server.js', import.meta.dir)
  // It knows nothing of our pipe, so that it would outlive a killed bench.
  const guarded = startGuarded({
    command: [process.execPath, script, `--port=${port}`, '--headless'],
    env,
    logFile: join(folder, 'portkey.log'),
    stopSignal: 'TERM',
    stopWithinMs: STOP_WITHIN_MS,
  })
  const origin = `http://127.0.0.1:${port}`
  await eventually(() => answers(origin), { withinMs: START_WITHIN_MS })
  const target = passThrough('portkey', { origin, roots: [guarded.pid, upstream.pid] })
  const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream.origin}/v1` }
  return { targets: [{ ...target, headers }], stop: () => guarded.stop() }
}

function passThrough(name: Target['name'], { origin, roots }: { origin: string; roots: number[] }): Target {
  return {
    name,
    baseUrl: `${origin}/v1`,
    headers: {},
    credentials: [ANY_CREDENTIAL],
    modelFor: simulatedModel,
    roots,
  }
}

async function answers(url: string): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok
}
