import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, freePort, startSpawned } from '@tollgate/process'
import type { Stack } from '../targets/stack.ts'

const root = join(import.meta.dir, '..', '..', '..')

/**
 * A second router for a running stack, which has one because it has one public port: with the first one's settings, on a port of
 * its own. Linux only: the settings are read from /proc.
 */
export async function startSecondRouter({
  gateway,
  localDir,
}: Stack): Promise<{ url: string; stop(): Promise<unknown> }> {
  const first = gateway.services.router?.[0]
  if (!first) throw new Error('the stack has no router')
  const settings = readFileSync(`/proc/${first.pid}/environ`, 'utf8').split('\0')
  const env = Object.fromEntries(settings.filter(Boolean).map(setting => splitOnce(setting, '=')))
  const port = freePort()
  const router = startSpawned({
    command: [process.execPath, 'services/router/index.ts'],
    cwd: root,
    env: { ...env, PORT: String(port), OPS_PORT: String(freePort()) },
    logFile: join(localDir, 'logs', 'router-2.log'),
    stopWithinMs: 15_000,
  })
  const url = `http://127.0.0.1:${port}`
  await eventually(async () => (await fetch(`${url}/readyz`)).ok, { withinMs: 15_000 })
  return { url, stop: router.stop }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + 1)]
}
