import { connectBus } from '@tollgate/bus'
import { openDatabase } from '@tollgate/db'
import { createLog, createMetrics, runService } from '@tollgate/service'
import { createBatcher } from './batcher.ts'
import { readConfig } from './config.ts'
import { handlers, serveAll } from './handlers.ts'
import { openAudits, openStore } from './store.ts'
import { telemetry } from './telemetry.ts'
import { startUpkeep } from './upkeep.ts'

const config = readConfig(process.env)
const log = createLog('ledger', config.LOG_LEVEL)
const metrics = createMetrics('ledger')
const figures = telemetry(metrics)

const url = config.DATABASE_URL.reveal()
const writes = openDatabase({ url, applicationName: 'ledger', connections: config.LANES })
const reads = openDatabase({ url, applicationName: 'ledger', connections: config.DATABASE_CONNECTIONS })
const audits = openAudits(url)
const bus = await connectBus({
  url: config.NATS_URL,
  user: 'ledger',
  password: config.NATS_PASSWORD.reveal(),
  name: 'ledger',
  onFault: (subject, err) => log.error({ subject, err }, 'a message failed'),
})

const store = openStore({ writes, reads })
const batcher = createBatcher({
  apply: figures.measured(store.apply),
  lanes: config.LANES,
  onFault: (err, batch) => log.error({ err, operations: batch.length }, 'a batch failed'),
})
const served = serveAll(bus, handlers(batcher, store))
const upkeep = await startUpkeep({ store, batcher, bus, audits, auditEveryMs: config.AUDIT_EVERY_MS, figures, log })

runService({
  log,
  metrics,
  port: config.PORT,
  hosts: config.HOSTS,
  drainMs: config.DRAIN_MS,
  supervised: config.SUPERVISED === '1',
  readiness: { nats: () => bus.connected, postgres: store.reachable },
  close: [
    () => Promise.all(upkeep.map(work => work.stop())),
    () => Promise.all(served.map(answerer => answerer.drain())),
    () => batcher.drain(),
    () => bus.close(),
    () => Promise.all([writes, reads, audits].map(database => database.close())),
  ],
})
