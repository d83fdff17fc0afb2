import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startAnotherRouter } from '@tollgate/local'
import { eventually, type StackOptions, startStack } from '@tollgate/testing'
import type { Gateway } from './client/gateway.ts'

export { eventually }

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A whole gateway, started as `npm start` starts it; the clients in `client/` know only its gateway.json. */
export interface RunningStack {
  gateway: Gateway
  gatewayFile: string
  /** The process of a replica now. */
  pidOf(service: string, index?: number): number
  log(process: string): string
  /** Runs `bun run audit` against it and throws with what it printed unless every invariant holds. */
  audit(): Promise<void>
  stop(): Promise<void>
}

export async function stack(options: StackOptions = {}): Promise<RunningStack> {
  const started = await startStack(options)
  const gatewayFile = join(started.localDir, 'gateway.json')
  // As a client reads it: the file, not our types of it.
  const gateway = (): Gateway => JSON.parse(readFileSync(gatewayFile, 'utf8'))
  return {
    gateway: gateway(),
    gatewayFile,
    pidOf(service, index = 0) {
      const pid = gateway().services[service]?.[index]?.pid
      if (!pid) throw new Error(`there is no ${service} ${index}`)
      return pid
    },
    log: started.log,
    async audit() {
      const child = Bun.spawn([process.execPath, 'services/ledger/audit.ts'], {
        cwd: root,
        env: { PATH: process.env.PATH ?? '', LOCAL_DIR: started.localDir },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [out, err, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ])
      if (code !== 0) throw new Error(`the audit failed:\n${out}${err}`)
    },
    stop: started.stop,
  }
}

/** Another router beside the stack's own; stop it before the stack. */
export function anotherRouter({ gatewayFile, pidOf }: RunningStack, number: number) {
  return startAnotherRouter(pidOf('router'), join(dirname(gatewayFile), 'logs', `router-${number}.log`))
}
