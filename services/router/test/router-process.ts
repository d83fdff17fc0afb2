import { resolve } from 'node:path'
import { eventually, freePort, type NatsCredentials } from '@tollgate/testing'

export const IDENTITY_SECRET = 'identity of a test'

export interface RouterSettings {
  /** The settings of config.ts. */
  env?: Record<string, string>
}

/** A router as its own process on a free port. */
export interface RouterProcess {
  url: string
  port: number
  pid: number
  /** Everything that it wrote, on both outputs. */
  output(): string
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number>
  kill9(): Promise<void>
}

const READY_WITHIN_MS = 20_000

export async function startRouter(
  options: RouterSettings & { nats: NatsCredentials; services: string },
): Promise<RouterProcess> {
  const { nats, services, env } = options
  const port = freePort()
  const child = Bun.spawn([process.execPath, 'index.ts'], {
    cwd: resolve(import.meta.dir, '..'),
    env: {
      PATH: process.env.PATH ?? '',
      PORT: String(port),
      NATS_URL: nats.url,
      NATS_PASSWORD: nats.password,
      IDENTITY_SECRETS: IDENTITY_SECRET,
      ALLOWED_ORIGINS: 'https://app.example',
      AUTH_URLS: services,
      KEYS_URLS: services,
      BILLING_URLS: services,
      METERING_PROXY_URLS: services,
      BUN_CONFIG_MAX_HTTP_REQUESTS: '5000',
      SUPERVISED: '1',
      ...env,
    },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let output = ''
  const gather = async (stream: ReadableStream<Uint8Array>) => {
    const text = new TextDecoder()
    for await (const chunk of stream) output += text.decode(chunk, { stream: true })
  }
  void gather(child.stdout)
  void gather(child.stderr)

  const url = `http://127.0.0.1:${port}`
  const isReady = async () => child.exitCode !== null || (await fetch(`${url}/readyz`)).ok
  await eventually(isReady, { withinMs: READY_WITHIN_MS })
  if (child.exitCode !== null) throw new Error(`the router ended:\n${output}`)
  const end = (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal)
    return child.exited
  }
  return {
    url,
    port,
    pid: child.pid,
    output: () => output,
    stop: () => end('SIGTERM'),
    kill9: async () => void (await end('SIGKILL')),
  }
}
