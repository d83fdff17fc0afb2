import { rmSync } from 'node:fs'
import { type ServiceName, serviceNames } from '@tollgate/contracts'
import { commandOf, eventually } from '@tollgate/process'
import { type Folder, readWhole, writeWhole } from './folder.ts'
import type { GatewayJson, ServiceProcess } from './gateway-json.ts'

/** A process of the stack, as it is found again after a crash of the supervisor. */
interface Known {
  pid: number
  /** Part of its command line. */
  script: string
}

export interface Registry {
  /** A process (re)started. */
  started(process: { name: string; script: string; pid: number }): void
  /** A replica of a service, which gateway.json lists. */
  startedService(replica: { service: ServiceName; index: number; pid: number; url: string | null }): void
  /** Writes gateway.json now and at every later change. */
  publish(rest: Omit<GatewayJson, 'services'>): GatewayJson
  withdraw(): void
}

const LEFTOVERS_END_WITHIN_MS = 5_000

/** Keeps `gateway.json` true while the stack runs, and a list of its processes for the next start. */
export function openRegistry(folder: Folder): Registry {
  const known: Record<string, Known> = {}
  const services = Object.fromEntries(
    serviceNames.map(name => [name, [] as ServiceProcess[]]),
  ) as GatewayJson['services'] // one entry per name
  let published: Omit<GatewayJson, 'services'> | undefined
  const write = () => published && writeWhole(folder.gatewayJson, { ...published, services })
  return {
    started({ name, script, pid }) {
      known[name] = { pid, script }
      writeWhole(folder.processesJson, known)
    },
    startedService({ service, index, pid, url }) {
      services[service][index] = { pid, url }
      write()
    },
    publish(rest) {
      published = rest
      write()
      return { ...rest, services }
    },
    withdraw() {
      published = undefined
      rmSync(folder.gatewayJson, { force: true })
    },
  }
}

/**
 * Ends what a killed supervisor left. Its processes end by themselves when its pipes close, but one may still be draining,
 * on a port that we need, or be stuck.
 */
export async function endLeftovers(folder: Folder): Promise<void> {
  rmSync(folder.gatewayJson, { force: true })
  const known = Object.values(readWhole<Record<string, Known>>(folder.processesJson) ?? {})
  const runs = ({ pid, script }: Known) => commandOf(pid)?.includes(script) ?? false
  const left = known.filter(runs)
  for (const { pid } of left) process.kill(pid, 'SIGKILL')
  await eventually(() => !left.some(runs), { withinMs: LEFTOVERS_END_WITHIN_MS })
  rmSync(folder.processesJson, { force: true })
}
