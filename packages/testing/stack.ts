import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LimitName, ServiceName } from '@tollgate/contracts'
import type { GatewayJson } from '@tollgate/local'
import { homeOf, postmasterPid } from '@tollgate/postgres'
import { eventually, freePort, tail } from '@tollgate/process'
import { root } from './tools.ts'

export interface StackOptions {
  /** Raises limits; the others stay as `interface.md` has them. */
  limits?: Partial<Record<LimitName, { count?: number; windowMs?: number }>>
  scale?: Partial<Record<ServiceName, number>>
  /** Settings, as a user of `npm start` gives them. */
  env?: Record<string, string>
  /** Wipes the state of the folder first. */
  fresh?: boolean
  /** The folder of an earlier stack, to go on from its state; a stack in a folder of one's own does not remove it. */
  localDir?: string
}

export interface TestStack extends AsyncDisposable {
  localDir: string
  /** Of the supervisor. */
  pid: number
  /** The content of gateway.json now: pids change when a service is killed. */
  gateway(): GatewayJson
  /** Kills one replica as `kill -9` does, and returns its pid. */
  killService(name: ServiceName, index?: number): number
  killServer(name: 'nats' | 'postgres'): number
  /** The end of a process's log, for messages: `ledger-1`, `postgres`, … */
  log(process: string): string
  stop(): Promise<void>
}

const READY_WITHIN_MS = 90_000

/** Starts the whole gateway, as `npm start` does, on ports and in a folder of its own. Ends with this process. */
export async function startStack(options: StackOptions = {}): Promise<TestStack> {
  const localDir = options.localDir ?? mkdtempSync(join(tmpdir(), 'tollgate-stack-'))
  const child = Bun.spawn([process.execPath, 'infra/local/main.ts', ...flags(options)], {
    cwd: root,
    env: environment(options, localDir),
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = collect(child.stdout)
  const file = join(localDir, 'gateway.json')
  const gateway = (): GatewayJson => JSON.parse(readFileSync(file, 'utf8'))
  const cleanUp = () => {
    if (!options.localDir) rmSync(localDir, { recursive: true, force: true })
  }
  const stop = async () => {
    child.kill('SIGTERM')
    await child.exited
    cleanUp()
  }

  // Not by gateway.json: one of an earlier stack may lie there.
  const isOver = () => child.exitCode !== null || output().includes('Tollgate is ready')
  await eventually(isOver, { withinMs: READY_WITHIN_MS, everyMs: 25 })
  if (child.exitCode !== null) {
    cleanUp()
    throw new Error(`the stack did not start:\n${output()}`)
  }
  return {
    localDir,
    pid: child.pid,
    gateway,
    killService(name, index = 0) {
      const pid = gateway().services[name][index]?.pid
      if (!pid) throw new Error(`there is no ${name} ${index}`)
      process.kill(pid, 'SIGKILL')
      return pid
    },
    killServer(name) {
      const pid = serverPid(name, localDir)
      if (!pid) throw new Error(`${name} does not run`)
      process.kill(pid, 'SIGKILL')
      return pid
    },
    log: name => tail(join(localDir, 'logs', `${name}.log`), 40),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** What was printed up to now. */
function collect(stream: ReadableStream<Uint8Array>): () => string {
  let text = ''
  const read = async () => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) text += chunk
  }
  void read()
  return () => text
}

function flags({ scale, fresh, localDir }: StackOptions): string[] {
  const replicas = Object.entries(scale ?? {}).map(([name, count]) => `${name}=${count}`)
  return [
    ...(replicas.length > 0 ? ['--scale', replicas.join(',')] : []),
    ...(fresh ? ['--fresh'] : []),
    ...(localDir ? [] : ['--throwaway']),
  ]
}

/** Nothing of a developer's settings gets in: a test must not reach a real provider or database. */
function environment({ limits, env }: StackOptions, localDir: string): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return {
    PATH,
    HOME,
    ...(TMPDIR && { TMPDIR }),
    ...(limits && { LIMITS: JSON.stringify(limits) }),
    PORT: String(freePort()),
    ...env,
    LOCAL_DIR: localDir,
    SUPERVISED: '1',
  }
}

function serverPid(name: 'nats' | 'postgres', localDir: string): number | undefined {
  if (name === 'postgres') return postmasterPid(join(homeOf(localDir).folder, 'data'))
  return Number(readFileSync(join(localDir, 'nats', 'nats-server.pid'), 'utf8'))
}
