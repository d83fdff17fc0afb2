import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually, freePort, startSpawned } from '@tollgate/process'

const root = join(import.meta.dir, '..', '..')

/** A router that was started beside the stack's own. */
export interface AnotherRouter {
  url: string
  stop(): Promise<unknown>
}

/**
 * Another router for a running stack, which has one because it has one public port: with the settings of the first, whose process
 * is named, on a port of its own. Linux only: the settings are read from /proc. It ends with this process.
 */
export async function startAnotherRouter(firstPid: number, logFile: string): Promise<AnotherRouter> {
  const settings = readFileSync(`/proc/${firstPid}/environ`, 'utf8').split('\0')
  const env = Object.fromEntries(settings.filter(Boolean).map(setting => splitOnce(setting, '=')))
  const port = freePort()
  const router = startSpawned({
    command: [process.execPath, 'services/router/index.ts'],
    cwd: root,
    env: { ...env, PORT: String(port), OPS_PORT: String(freePort()) },
    logFile,
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
