import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { eventually, freePort } from '@tollgate/testing'
import type { RunningStack } from './stack.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * More routers for a running stack, which has one because it has one public port: with the first one's settings, on ports of
 * their own. Linux only: the settings are read from /proc. They end with this process.
 */
export async function moreRouters(running: RunningStack, count: number): Promise<{ url: string; stop(): void }[]> {
  const settings = readFileSync(`/proc/${running.pidOf('router')}/environ`, 'utf8')
    .split('\0')
    .filter(Boolean)
  const env = Object.fromEntries(
    settings.map(setting => [setting.slice(0, setting.indexOf('=')), setting.slice(setting.indexOf('=') + 1)]),
  )
  return Promise.all(
    Array.from({ length: count }, async () => {
      const port = freePort()
      const child = Bun.spawn([process.execPath, 'services/router/index.ts'], {
        cwd: root,
        env: { ...env, PORT: String(port), OPS_PORT: String(freePort()), SUPERVISED: '1' },
        stdin: 'pipe',
        stdout: 'ignore',
        stderr: 'inherit',
      })
      const url = `http://127.0.0.1:${port}`
      await eventually(async () => (await fetch(`${url}/readyz`)).ok, { withinMs: 15_000 })
      return { url, stop: () => child.kill('SIGTERM') }
    }),
  )
}
