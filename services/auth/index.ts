import { connectBus } from '@tollgate/bus'
import { EVENTS_STREAM, getUser, NONCE_BUCKET, resolveSession } from '@tollgate/contracts'
import { openDatabase } from '@tollgate/db'
import { createLog, createMetrics, runService } from '@tollgate/service'
import { readConfig } from './config.ts'
import { endSessions } from './end-sessions.ts'
import * as handlers from './handlers.ts'
import { authHttp } from './http.ts'
import { chainIdOf } from './message.ts'
import { NONCE_TTL_MS, openNonces } from './nonces.ts'
import { signIn } from './sign-in.ts'
import { openStore } from './store.ts'
import { tokenBalances } from './token-balances.ts'
import { userView } from './users.ts'

const config = readConfig(process.env)
const log = createLog('auth', config.LOG_LEVEL)
const db = openDatabase({
  url: config.DATABASE_URL.reveal(),
  connections: config.DATABASE_CONNECTIONS,
  applicationName: 'auth',
})
const bus = await connectBus({
  url: config.NATS_URL,
  user: 'auth',
  password: config.NATS_PASSWORD.reveal(),
  name: 'auth',
  onFault: (subject, err) => log.warn({ err, subject }, 'a fault on the bus'),
})
await bus.ensureStream(EVENTS_STREAM)

const store = openStore(db)
const showUser = userView(bus, tokenBalances(bus))
const ends = endSessions(store, bus)
const nonces = openNonces(bus.bucket(NONCE_BUCKET, NONCE_TTL_MS), chainIdOf(config.SOLANA_NETWORK))
const served = [
  bus.serve(resolveSession, handlers.resolveSession(store)),
  bus.serve(getUser, handlers.getUser(store, showUser)),
]
const http = authHttp({
  secrets: { secrets: config.IDENTITY_SECRETS.map(secret => secret.reveal()) },
  log,
  store,
  showUser,
  endSessions: ends,
  signIn: signIn({ nonces, store, showUser, endSessions: ends, appOrigin: config.APP_ORIGIN }),
  cookie: { partitioned: config.COOKIE_PARTITIONED === '1' },
})
runService({
  log,
  metrics: createMetrics('auth'),
  port: config.PORT,
  hosts: config.HOSTS,
  drainMs: config.DRAIN_MS,
  supervised: config.SUPERVISED === '1',
  readiness: { nats: () => bus.connected, postgres: store.ready },
  fetch: http.handle,
  close: [() => Promise.all(served.map(answerer => answerer.drain())), bus.close, db.close],
})
