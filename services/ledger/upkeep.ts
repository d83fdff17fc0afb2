import type { Bus } from '@tollgate/bus'
import { EVENTS_STREAM, ledger, SETTLEMENTS_STREAM } from '@tollgate/contracts'
import type { Database } from '@tollgate/db'
import type { Log } from '@tollgate/service'
import type { Batcher } from './batcher.ts'
import { SETTLEMENTS_ACK_WAIT_MS, SETTLEMENTS_CONCURRENCY, SETTLEMENTS_DURABLE, settlements } from './consumers.ts'
import { onDuty } from './duty.ts'
import { messagesOf } from './journal.ts'
import { RELAY_EVERY_MS, relay } from './relay.ts'
import { type Repeating, repeat } from './repeat.ts'
import { audit, type Store } from './store.ts'
import { SWEEP_EVERY_MS, sweep } from './sweeper.ts'
import type { Telemetry } from './telemetry.ts'

export interface UpkeepOptions {
  store: Store
  batcher: Batcher
  bus: Bus
  audits: Database
  auditEveryMs: number
  figures: Telemetry
  log: Log
}

const PARTITIONS_EVERY_MS = 3_600_000
/** Two months without a ledger, and the third one still finds its partition. */
const PARTITIONS_AHEAD = 2

/** What a ledger does beside answering; each can be stopped, and none is needed for an answer to be right. */
export async function startUpkeep(options: UpkeepOptions): Promise<Repeating[]> {
  const { store, batcher, bus, audits, auditEveryMs, figures, log } = options
  const failed = (what: string) => (err: unknown) => log.error({ err }, `${what} failed`)
  const ensureStreams = () => Promise.all([bus.ensureStream(EVENTS_STREAM), bus.ensureStream(SETTLEMENTS_STREAM)])

  await ensureStreams().catch(failed('making the streams'))
  const relaying = relay({
    store,
    publish: entries => bus.enqueueAll(messagesOf(entries)),
    onRelayed: figures.relayed,
  })

  const auditing = async (): Promise<undefined> => {
    const broken = await audit(audits)
    figures.audited(broken)
    if (broken.length > 0) log.error({ broken }, 'the audit found broken rows')
  }

  return [
    repeat({
      everyMs: PARTITIONS_EVERY_MS,
      round: () => store.ensurePartitions(PARTITIONS_AHEAD),
      onFault: failed('making partitions'),
    }),
    repeat({
      everyMs: SWEEP_EVERY_MS,
      round: onDuty(store, 'sweep', sweep(store, batcher)),
      onFault: failed('sweeping'),
    }),
    repeat({
      everyMs: RELAY_EVERY_MS,
      round: onDuty(store, 'relay', relaying.round, relaying.begin),
      async onFault(err) {
        failed('relaying')(err)
        // JetStream may have come back without the stream.
        await ensureStreams().catch(() => undefined)
      },
    }),
    repeat({ everyMs: auditEveryMs, round: onDuty(store, 'audit', auditing), onFault: failed('auditing') }),
    bus.consume(
      {
        stream: SETTLEMENTS_STREAM.name,
        durable: SETTLEMENTS_DURABLE,
        subject: `${ledger.SETTLEMENTS_SUBJECT}.*`,
        ackWaitMs: SETTLEMENTS_ACK_WAIT_MS,
        concurrency: SETTLEMENTS_CONCURRENCY,
      },
      settlements(batcher),
    ),
  ]
}
