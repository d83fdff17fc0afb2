import { connectBus } from '@tollgate/bus'
import { EVENTS_STREAM, MICRO_PER_USD } from '@tollgate/contracts'
import { openDatabase } from '@tollgate/db'
import { createLog, createMetrics, runService } from '@tollgate/service'
import { readConfig } from './config.ts'
import { startConsumers } from './consumers.ts'
import { billingHttp } from './http.ts'
import { openOracle } from './oracle/open.ts'
import { createSettler } from './settle.ts'
import { createStore } from './store.ts'
import { startSweeps } from './sweep.ts'
import { createTopup } from './topup.ts'
import { createUsageStore } from './usage/store.ts'
import { createVerify } from './verify.ts'

const config = readConfig(process.env)
const log = createLog('billing', config.LOG_LEVEL)
const metrics = createMetrics('billing')
const database = openDatabase({
  url: config.DATABASE_URL.reveal(),
  connections: config.DATABASE_CONNECTIONS,
  applicationName: 'billing',
})
const bus = await connectBus({
  url: config.NATS_URL,
  user: 'billing',
  password: config.NATS_PASSWORD.reveal(),
  name: 'billing',
  onFault: (subject, err) => log.error({ subject, err }, 'a message failed'),
})
await bus.ensureStream(EVENTS_STREAM)

const store = createStore(database)
const usage = createUsageStore(database)
const settler = createSettler({ store, bus, log, metrics })
const oracle = openOracle(config, log)
const maxMicro = BigInt(config.TOPUP_MAX_USD) * MICRO_PER_USD
const topup = createTopup({ store, bus, oracle, maxMicro, openMax: config.OPEN_INTENTS_MAX })
const verify = createVerify({ store, bus, settler })
const secrets = { secrets: config.IDENTITY_SECRETS.map(secret => secret.reveal()) }
const texts = { label: config.PAY_LABEL, message: config.PAY_MESSAGE }
const http = billingHttp({ secrets, log, bus, store, usage, topup, verify, texts })
const sweeps = { store, settler, usage, oracle, log, everyMs: config.SWEEP_INTERVAL_MS }
const working = [...startConsumers({ bus, settler, usage, log }), ...startSweeps(sweeps)]

runService({
  log,
  metrics,
  port: config.PORT,
  hosts: config.HOSTS,
  drainMs: config.DRAIN_MS,
  supervised: config.SUPERVISED === '1',
  readiness: { nats: () => bus.connected, postgres: () => store.reachable() },
  fetch: request => http.handle(request),
  close: [() => Promise.all(working.map(work => work.stop())), () => bus.close(), () => database.close()],
})
