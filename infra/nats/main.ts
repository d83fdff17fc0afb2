/**
 * `bun infra/nats/main.ts`: prints the configuration of a nats-server of one's own, with the users that the services need.
 * Their passwords come from NATS_SECRET, which `npm start` is given too, with NATS_URL.
 */
import { natsConfig } from './config.ts'
import { natsUsers } from './users.ts'

const { NATS_SECRET: secret, NATS_HOST: host = '127.0.0.1', NATS_PORT: port = '4222' } = process.env
const { NATS_STORE_DIR: storeDir = '/var/lib/nats', NATS_PID_FILE: pidFile = '/run/nats-server.pid' } = process.env
if (!secret) {
  console.error('NATS_SECRET must be set: the passwords of the users come from it')
  process.exit(1)
}
console.log(
  natsConfig({ users: natsUsers(secret), host, port: Number(port), serverName: 'tollgate', storeDir, pidFile }),
)
