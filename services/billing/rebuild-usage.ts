/** `bun services/billing/rebuild-usage.ts`, with the service's own environment: builds the usage read model from nothing. */
import { connectBus } from '@tollgate/bus'
import { openDatabase } from '@tollgate/db'
import { readConfig } from './config.ts'
import { rebuildUsage } from './consumers.ts'
import { createUsageStore } from './usage/store.ts'

const config = readConfig()
const database = openDatabase({ url: config.DATABASE_URL.reveal(), connections: 1, applicationName: 'billing rebuild' })
const bus = await connectBus({
  url: config.NATS_URL,
  user: 'billing',
  password: config.NATS_PASSWORD.reveal(),
  name: 'billing rebuild',
})
await rebuildUsage(bus, createUsageStore(database))
console.log('The usage read model is empty; the running service fills it from the events.')
await bus.close()
await database.close()
