import { connectBus } from '@tollgate/bus'
import { ANSWERS_BUCKET, SETTLEMENTS_STREAM } from '@tollgate/contracts'
import { createLog, createMetrics, runService } from '@tollgate/service'
import { readConfig } from './config.ts'
import { openHolds } from './holds.ts'
import { meteringHttp } from './http.ts'
import { openLives } from './lives.ts'
import { openRoutes } from './routes.ts'
import { openSettlements } from './settlements.ts'
import { openTelemetry } from './telemetry.ts'

/** How long an orderly end waits for charges to be taken. */
const SETTLE_WITHIN_MS = 5_000
const DAY_MS = 86_400_000

const config = readConfig(process.env)
const log = createLog('metering-proxy', config.LOG_LEVEL)
const metrics = createMetrics('metering_proxy')
const bus = await connectBus({
  url: config.NATS_URL,
  user: 'metering-proxy',
  password: config.NATS_PASSWORD.reveal(),
  name: 'metering-proxy',
  onFault: (subject, err) => log.warn({ subject, err }, 'the bus failed'),
})
await bus.ensureStream(SETTLEMENTS_STREAM)

const settlements = openSettlements({ bus, log, waitingMax: config.UNSETTLED_MAX })
const holds = openHolds({ bus, log, settlements, ttlMs: config.HOLD_TTL_MS, extendEveryMs: config.EXTEND_EVERY_MS })
const lives = openLives({ totalMs: config.TOTAL_MS, drainMs: config.ABANDONED_MS })
const http = meteringHttp({
  catalogue: config.catalogue,
  secrets: { secrets: config.identitySecrets },
  holds,
  lives,
  routes: openRoutes(Math.random),
  patience: { firstEventMs: config.FIRST_EVENT_MS, answerMs: config.TOTAL_MS, idleMs: config.IDLE_MS },
  pingMs: config.PING_MS,
  once: { records: bus.records(ANSWERS_BUCKET, DAY_MS), secrets: config.replaySecrets, log, waitMs: config.TOTAL_MS },
  telemetry: openTelemetry(metrics, { lives, holds, settlements }),
  log,
})

runService({
  log,
  metrics,
  port: config.PORT,
  hosts: config.HOSTS,
  drainMs: config.DRAIN_MS,
  supervised: config.SUPERVISED === '1',
  readiness: { nats: () => bus.connected, settlements: () => !settlements.full },
  fetch: http.fetch,
  close: [() => lives.stop(SETTLE_WITHIN_MS), () => settlements.drained(SETTLE_WITHIN_MS), holds.stop, bus.close],
})
