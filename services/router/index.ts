import { connectBus } from '@tollgate/bus'
import { createLog, createMetrics, runService } from '@tollgate/service'
import { createCallers } from './callers.ts'
import { readConfig, serviceUrls } from './config.ts'
import { createEdge } from './edge.ts'
import { limitKeeper } from './keep-limits.ts'
import { createKeyUsage } from './key-usage.ts'
import { createGates } from './limits.ts'
import { routerReadiness } from './readiness.ts'
import { openReplicas } from './replicas.ts'

const config = readConfig(process.env)
const log = createLog('router', config.LOG_LEVEL)
const metrics = createMetrics('router')
const reconnected: (() => void)[] = []
const bus = await connectBus({
  url: config.NATS_URL,
  user: 'router',
  password: config.NATS_PASSWORD.reveal(),
  name: 'router',
  onFault: (subject, err) => log.warn({ subject, err }, 'the bus reported a fault'),
  onReconnect: () => reconnected.forEach(run => void run()),
})
const callers = createCallers(bus)
const gates = createGates(bus, config.LIMITS)
const keepLimits = limitKeeper(gates, log)
reconnected.push(callers.forgetAll, keepLimits)
keepLimits()
const keyUsage = createKeyUsage(bus)
const services = await openReplicas(serviceUrls(config))

const edge = createEdge({
  callers,
  gates,
  keyUsage,
  services,
  log,
  metrics,
  limits: config.LIMITS,
  identity: { secrets: config.IDENTITY_SECRETS.map(secret => secret.reveal()) },
  origins: config.ALLOWED_ORIGINS,
  allowedHosts: config.ALLOWED_HOSTS,
  trustedProxies: config.TRUSTED_PROXIES,
  outstandingMax: config.OUTSTANDING_MAX,
  fetchesMax: config.BUN_CONFIG_MAX_HTTP_REQUESTS,
})
runService({
  log,
  metrics,
  port: config.PORT,
  hosts: config.HOSTS,
  opsPort: config.OPS_PORT,
  drainMs: config.DRAIN_MS,
  supervised: config.SUPERVISED === '1',
  readiness: routerReadiness(bus, services),
  fetch: edge.fetch,
  finishHealth: edge.finish,
  metricsHere: false,
  close: [keyUsage.stop, () => bus.close()],
})
