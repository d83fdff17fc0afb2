import { connectBus } from '@tollgate/bus'
import { EVENTS_STREAM, KEY_USED_SUBJECT, KeysUsed, resolveKey } from '@tollgate/contracts'
import { openDatabase } from '@tollgate/db'
import { createLog, createMetrics, runService } from '@tollgate/service'
import { ledgerCaps } from './caps.ts'
import { readConfig } from './config.ts'
import { lastUsed } from './consumers.ts'
import * as handlers from './handlers.ts'
import { keysHttp } from './http.ts'
import { keyRing } from './key-ring.ts'
import { openStore } from './store.ts'

const config = readConfig(process.env)
const log = createLog('keys', config.LOG_LEVEL)
const db = openDatabase({
  url: config.DATABASE_URL.reveal(),
  connections: config.DATABASE_CONNECTIONS,
  applicationName: 'keys',
})
const bus = await connectBus({
  url: config.NATS_URL,
  user: 'keys',
  password: config.NATS_PASSWORD.reveal(),
  name: 'keys',
  onFault: (subject, err) => log.warn({ err, subject }, 'a fault on the bus'),
})
await bus.ensureStream(EVENTS_STREAM)

const store = openStore(db)
const served = bus.serve(resolveKey, handlers.resolveKeys(store))
const uses = lastUsed(store, log)
bus.listen(KEY_USED_SUBJECT, KeysUsed, uses.hear, 'keys')
const http = keysHttp({
  secrets: { secrets: config.IDENTITY_SECRETS.map(secret => secret.reveal()) },
  log,
  ring: keyRing({ store, caps: ledgerCaps(bus), bus }),
})
runService({
  log,
  metrics: createMetrics('keys'),
  port: config.PORT,
  hosts: config.HOSTS,
  drainMs: config.DRAIN_MS,
  supervised: config.SUPERVISED === '1',
  readiness: { nats: () => bus.connected, postgres: store.ready },
  fetch: http.handle,
  close: [() => served.drain(), bus.close, uses.close, db.close],
})
