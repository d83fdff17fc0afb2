import { connectBus } from '@tollgate/bus'
import { blockhash, EVENTS_STREAM, findPayment, tokenBalance, treasury } from '@tollgate/contracts'
import { openDatabase } from '@tollgate/db'
import { createLog, createMetrics, runService } from '@tollgate/service'
import { readConfig } from './config.ts'
import { openWatch } from './open.ts'
import { createStore } from './store.ts'

const config = readConfig(process.env)
const log = createLog('chain-watcher', config.LOG_LEVEL)
const metrics = createMetrics('chain-watcher')
const database = openDatabase({
  url: config.DATABASE_URL.reveal(),
  connections: config.DATABASE_CONNECTIONS,
  applicationName: 'chain-watcher',
})
const bus = await connectBus({
  url: config.NATS_URL,
  user: 'chain-watcher',
  password: config.NATS_PASSWORD.reveal(),
  name: 'chain-watcher',
  onFault: (subject, err) => log.error({ subject, err }, 'a message failed'),
})
await bus.ensureStream(EVENTS_STREAM)

const store = createStore(database)
const watch = openWatch({ config, store, bus, log, metrics })
const served = [
  bus.serve(blockhash, watch.answers.blockhash),
  bus.serve(treasury, watch.answers.treasury),
  bus.serve(findPayment, watch.answers.payment),
  bus.serve(tokenBalance, watch.answers.tokenBalance),
]

runService({
  log,
  metrics,
  port: config.PORT,
  hosts: config.HOSTS,
  drainMs: config.DRAIN_MS,
  supervised: config.SUPERVISED === '1',
  // Not the RPC endpoints: without them the service still answers, namely that they are away.
  readiness: { nats: () => bus.connected, postgres: () => store.reachable() },
  close: [
    () => watch.close(),
    () => Promise.all(served.map(answerer => answerer.drain())),
    () => bus.close(),
    () => database.close(),
  ],
})
