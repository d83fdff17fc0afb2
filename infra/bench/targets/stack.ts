import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { homeOf } from '@tollgate/postgres'
import { eventually, freePort, startSpawned, tail } from '@tollgate/process'
import type { Gateway } from '../../e2e/client/gateway.ts'
import { aged } from '../aged.ts'
import { readHistograms, type Scrape } from '../prometheus.ts'
import { paces } from '../workload.ts'
import { type Pace, simulatedModel } from './target.ts'

export interface StackOptions {
  /** The upstream's base URL; ends in `/v1`. */
  upstreamUrl: string
  /** `metering-proxy=2,ledger=2` */
  scale?: string
  /** Settings besides the bench's own. */
  env?: Record<string, string>
}

/** A whole gateway as `npm start` runs it, in a folder of its own. */
export interface Stack {
  gateway: Gateway
  localDir: string
  /** The supervisor; everything runs below it. */
  pid: number
  /** What the metrics of all services say now. */
  scrape(): Promise<Scrape>
  audit(): Promise<{ clean: boolean; text: string }>
  stop(): Promise<void>
}

const root = join(import.meta.dir, '..', '..', '..')
/** Those that a completion goes through. */
const SCRAPED = /^(router-ops|metering-proxy-\d+|ledger-\d+)$/
const READY_WITHIN_MS = 120_000
const STOP_WITHIN_MS = 30_000

/**
 * One caller stands for many here, so the limits' numbers are raised; the machinery is on, and every request takes a place.
 */
const LIMITS = JSON.stringify(
  Object.fromEntries(['chat', 'nonce', 'keys', 'topup', 'verify'].map(name => [name, { count: 100_000_000 }])),
)

/** Money is as durable as with `npm start`, so it lies on the same disk: not in /tmp, which may be memory. */
export async function startStack({ upstreamUrl, scale, env = {} }: StackOptions): Promise<Stack> {
  mkdirSync(join(root, '.local'), { recursive: true })
  const localDir = mkdtempSync(join(root, '.local', 'bench-'))
  const modelsFile = join(localDir, 'bench-models.json')
  writeFileSync(modelsFile, JSON.stringify(catalogue(upstreamUrl)))
  const logFile = join(localDir, 'stack.log')
  const opsPort = freePort()
  const supervisor = startSpawned({
    command: [process.execPath, 'infra/local/main.ts', ...(scale ? ['--scale', scale] : [])],
    cwd: root,
    env: {
      ...ownEnvironment(),
      LOCAL_DIR: localDir,
      PORT: String(freePort()),
      MODELS_FILE: modelsFile,
      OPS_PORT: String(opsPort),
      LIMITS,
      ...env,
    },
    logFile,
    stopWithinMs: STOP_WITHIN_MS,
  })
  const stop = async () => {
    await supervisor.stop()
    rmSync(homeOf(localDir).folder, { recursive: true, force: true })
    rmSync(localDir, { recursive: true, force: true })
  }
  const readGateway = (): Gateway => JSON.parse(readFileSync(join(localDir, 'gateway.json'), 'utf8'))
  try {
    const gateway = await eventually(() => (supervisor.alive() ? readGateway() : 'ended'), {
      withinMs: READY_WITHIN_MS,
      everyMs: 50,
    })
    if (gateway === 'ended') throw new Error('it ended')
    await aged(gateway.postgres)
    return {
      gateway,
      localDir,
      pid: supervisor.pid,
      scrape: () => scrape(localDir, opsPort),
      audit: () => audit(localDir),
      stop,
    }
  } catch (error) {
    const said = tail(logFile)
    await stop()
    throw new Error(`the stack did not start: ${error instanceof Error ? error.message : error}\n${said}`)
  }
}

/** The catalogue's name for an answer of this pace: in it, names are plain. */
export function catalogueModel({ tokens, intervalMs }: Pace): string {
  return `simulated-${tokens}-${intervalMs}`
}

/** A model for each pace, at the price of a small one (gpt-4o-mini), served by the upstream that every target asks. */
function catalogue(upstreamUrl: string): unknown {
  return {
    providers: { simulated: { kind: 'openai', baseUrl: upstreamUrl } },
    models: paces.map(pace => ({
      id: catalogueModel(pace),
      inMicro: 150_000,
      outMicro: 600_000,
      contextTokens: 128_000,
      maxOutputTokens: 16_384,
      routes: [{ provider: 'simulated', model: simulatedModel(pace) }],
    })),
  }
}

/** The ledger has no endpoints for others: its port is in the stack's own list. */
async function scrape(localDir: string, opsPort: number): Promise<Scrape> {
  const ports: Record<string, number> = JSON.parse(readFileSync(join(localDir, 'ports.json'), 'utf8'))
  const scraped = Object.entries({ ...ports, 'router-ops': opsPort }).filter(([name]) => SCRAPED.test(name))
  return readHistograms(
    await Promise.all(scraped.map(async ([, port]) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text())),
  )
}

async function audit(localDir: string): Promise<{ clean: boolean; text: string }> {
  const child = Bun.spawn([process.execPath, 'services/ledger/audit.ts'], {
    cwd: root,
    env: { ...ownEnvironment(), LOCAL_DIR: localDir },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { clean: (await child.exited) === 0, text: `${out}${err}`.trim() }
}

/** Nothing of a developer's settings gets in: a bench must not reach a real provider or database. */
function ownEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }) }
}
