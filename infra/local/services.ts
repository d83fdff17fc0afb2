import { type ServiceName, serviceNames } from '@tollgate/contracts'
import { startSpawned } from '@tollgate/process'
import { type Surroundings, serviceEnvironment } from './environment.ts'
import { answers, root } from './parts.ts'
import type { Stage } from './stage.ts'

export interface Replica {
  service: ServiceName
  index: number
  port: number
}

/** Longer than the services' own time to drain (DRAIN_MS). */
const STOP_WITHIN_MS = 12_000

/** Their ports are only for health; callers reach them over NATS. */
const withoutEndpoints: readonly ServiceName[] = ['ledger', 'chain-watcher']

/** Every replica of every service with its port; the router's is `PORT`. */
export function planReplicas(stage: Stage, scale: Partial<Record<ServiceName, number>>, routerPort: number): Replica[] {
  return serviceNames.flatMap(service =>
    Array.from({ length: scale[service] ?? 1 }, (_, index) => ({
      service,
      index,
      port: service === 'router' ? routerPort : stage.ports.of(replicaName({ service, index })),
    })),
  )
}

export function urlsOf(replicas: readonly Replica[]): Surroundings['urls'] {
  return Object.fromEntries(
    serviceNames.map(service => [service, replicas.filter(replica => replica.service === service).map(urlOf)]),
  )
}

export function startService(stage: Stage, replica: Replica, around: Surroundings): Promise<void> {
  const { service, index, port } = replica
  const name = replicaName(replica)
  const script = `services/${service}/index.ts`
  const env = serviceEnvironment(service, port, around)
  const url = withoutEndpoints.includes(service) ? null : urlOf(replica)
  return stage.keep({
    name,
    script,
    start: () =>
      startSpawned({
        command: [process.execPath, script],
        cwd: root,
        env,
        logFile: stage.folder.log(name),
        stopWithinMs: STOP_WITHIN_MS,
      }),
    isReady: () => answers(`${urlOf(replica)}/readyz`),
    onStarted: pid => stage.registry.startedService({ service, index, pid, url }),
  })
}

/** In the order of the path of a request: what is upstream of a service ends before it, and nothing asks it any more. */
export const stopOrder: readonly (readonly string[])[] = [
  ['router'],
  ['metering-proxy'],
  ['auth', 'keys', 'billing'],
  ['ledger', 'chain-watcher'],
]

export function isReplicaOf(name: string, services: readonly string[]): boolean {
  return services.includes(name.replace(/-\d+$/, ''))
}

/** As its log is called: `ledger-1` is the first ledger. */
function replicaName({ service, index }: Pick<Replica, 'service' | 'index'>): string {
  return `${service}-${index + 1}`
}

function urlOf({ service, port }: Replica): string {
  return service === 'router' ? `http://localhost:${port}` : `http://127.0.0.1:${port}`
}
