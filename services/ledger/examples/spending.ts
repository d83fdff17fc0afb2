import { codecOf, connectBus, fromBytes } from '@tollgate/bus'
import { EVENTS_STREAM, ledger } from '@tollgate/contracts'

/**
 * An internal consumer of the journal: prints what each account spends, as it is charged.
 *
 *     NATS_URL=nats://127.0.0.1:4222 NATS_PASSWORD=… bun services/ledger/examples/spending.ts
 *
 * What a consumer has to know:
 * - The durable remembers where it was: after a stop it goes on from there, with what happened meanwhile.
 * - Delivery is at least once. `entry.id`, the operation's id, is unique: keep it with what you derive, under a unique key and
 *   in the same statement, and a redelivery changes nothing. This example keeps it in memory, and so forgets it with the rest.
 * - A message holds up to a hundred entries. One that is partly known already may come under an id of its own.
 * - Entries of one account come in the order of `seq` while `concurrency` is 1. Across accounts there is no order to rely on.
 * - Refused operations are in it too: look at `refusal` before you add up.
 */
const bus = await connectBus({
  url: process.env.NATS_URL ?? 'nats://127.0.0.1:4222',
  user: 'consumer',
  password: process.env.NATS_PASSWORD ?? '',
  name: 'spending example',
})
const seen = new Set<string>()
const spentMicro = new Map<string, bigint>()

const consuming = bus.consume(
  { stream: EVENTS_STREAM.name, durable: 'consumer', subject: 'events.ledger.settle', concurrency: 1 },
  async ({ data }) => {
    for (const entry of codecOf(ledger.journalled.payload).fromWire(fromBytes(data))) {
      if (entry.refusal !== null || seen.has(entry.id)) continue
      seen.add(entry.id)
      spentMicro.set(entry.account, (spentMicro.get(entry.account) ?? 0n) - entry.amountMicro)
      console.log(`${entry.account} ${entry.id} ${-entry.amountMicro} total ${spentMicro.get(entry.account)}`)
    }
    return 'done'
  },
)

process.on('SIGTERM', () => consuming.stop().then(() => bus.close()))
