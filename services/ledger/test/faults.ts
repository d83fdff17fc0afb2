import { BusFault, codecOf } from '@tollgate/bus'
import { type AccountId, type KeyId, ledger, newId, type ReplyOf, shardOf } from '@tollgate/contracts'
import { eventually, postgres } from '@tollgate/testing'
import { chargeDetail } from './details.ts'
import { type Stack, stack } from './stack.ts'

const CLIENTS = 64
const BUSES = 4
const ACCOUNTS = 8
const FUNDS_MICRO = 1_000_000_000n
/** A client that got no answer asks again with the same id; longer than any recovery, so that giving up is a failure. */
const PERSISTENCE_MS = 40_000
/** What abandoned holds live, so that the sweep has work during the run. */
const ABANDONED_TTL_MS = 1_500
const PAUSE_BETWEEN_FAULTS_MS = 1_200
const RESTART_AFTER_MS = 400

type Answer = ReplyOf<typeof ledger.hold> | ReplyOf<typeof ledger.settle> | ReplyOf<typeof ledger.release>

export interface FaultReport {
  acknowledged: number
  retries: number
  faults: Record<string, number>
  /** From the end of the last fault until an operation was answered again. */
  recoveredMs: number
  /** Ids that were acknowledged and are not journalled exactly once with that answer. */
  wrong: string[]
  strayHolds: number
  broken: unknown[]
}

/**
 * Two ledgers, 64 clients that hold, settle, release, abandon, queue, repeat and lose replies; and meanwhile ledgers are
 * killed, Postgres crashes, nats-server is killed, again and again for the given time. Then everything is held to account.
 */
export async function faultRun(seconds: number): Promise<FaultReport> {
  const database = await postgres({ services: ['ledger'], ownCluster: true })
  const on = await stack({ database })
  try {
    on.start()
    on.start()
    await on.answering(30_000)
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => on.funded(FUNDS_MICRO)))
    const keys = accounts.map(() => newId('key'))
    const clients = await crowd(on, accounts, keys)
    const faults = await wreak(on, () => database.restart({ immediate: true }), seconds)
    const calmFrom = performance.now()
    await eventually(() => on.funded(1n), { withinMs: 30_000 })
    const recoveredMs = performance.now() - calmFrom
    await clients.stop()
    await eventually(async () => (await openHolds(on)) === 0, { withinMs: 15_000, everyMs: 200 }).catch(() => undefined)
    return {
      ...clients.figures(),
      faults,
      recoveredMs,
      wrong: await wrongIds(on, clients.answers),
      strayHolds: await openHolds(on),
      broken: await on.audit(),
    }
  } finally {
    await on.stop()
  }
}

/** Clients that never rest. `answers`: what each id was answered, which must be the same however often it was asked. */
async function crowd(on: Stack, accounts: AccountId[], keys: KeyId[]) {
  const buses = await Promise.all(Array.from({ length: BUSES }, () => on.as('metering-proxy')))
  const answers = new Map<string, Answer>()
  const failures: unknown[] = []
  let stopped = false
  let retries = 0

  /** Until it is answered. Now and then asked twice at once, or the answer is lost on the way and asked for again. */
  async function persistently<A extends Answer>(id: string, ask: () => Promise<A>): Promise<A> {
    const deadline = performance.now() + PERSISTENCE_MS
    for (let times = Math.random() < 0.1 ? 2 : 1; ; ) {
      try {
        const [answer] = Math.random() < 0.05 ? await Promise.all([ask(), ask()]) : [await ask()]
        const before = answers.get(id)
        if (before && !Bun.deepEquals(before, answer)) throw new Error(`${id} was answered in two ways`)
        answers.set(id, answer)
        if (--times === 0) return answer
      } catch (fault) {
        if (!(fault instanceof BusFault) || fault.kind !== 'unavailable' || performance.now() > deadline) throw fault
        retries++
        await Bun.sleep(20 + Math.random() * 80)
      }
    }
  }

  async function request(n: number): Promise<void> {
    const [bus, account, key] = [buses[n % BUSES], accounts[n % ACCOUNTS], keys[n % ACCOUNTS]]
    if (!bus || !account || !key) throw new Error('no such client')
    const name = newId('request')
    const hold = `hold:${name}`
    const fate = Math.random()
    const ttlMs = fate < 0.05 ? ABANDONED_TTL_MS : 60_000
    const held = await persistently(hold, () =>
      bus.call(ledger.hold, {
        id: hold,
        account,
        key: fate < 0.5 ? key : null,
        minMicro: 500n,
        maxMicro: 1_000n,
        ttlMs,
      }),
    )
    if (held.status !== 'held' || fate < 0.05) return
    if (fate < 0.15) {
      const id = `release:${name}`
      await persistently(id, () => bus.call(ledger.release, { id, hold, account }))
      return
    }
    const settlement = {
      id: `settle:${name}`,
      hold,
      account,
      costMicro: BigInt(Math.floor(fate * 1_000)),
      detail: chargeDetail,
    }
    if (fate < 0.2) {
      const wire = codecOf(ledger.settle.request).toWire(settlement)
      await bus
        .enqueue(`${ledger.SETTLEMENTS_SUBJECT}.${shardOf(account)}`, wire, { id: settlement.id })
        .catch(() => undefined)
    }
    await persistently(settlement.id, () => bus.call(ledger.settle, settlement))
  }

  async function client(n: number): Promise<void> {
    while (!stopped && failures.length === 0) await request(n).catch(fault => failures.push(fault))
  }

  const running = Array.from({ length: CLIENTS }, (_, n) => client(n))
  return {
    answers,
    figures: () => ({ acknowledged: answers.size, retries }),
    async stop() {
      stopped = true
      await Promise.all(running)
      if (failures.length > 0) throw new AggregateError(failures, 'a client gave up')
    },
  }
}

/** Faults of every kind in turn; whoever is killed is started again, as the supervisor does. */
async function wreak(on: Stack, crashPostgres: () => Promise<void>, seconds: number): Promise<Record<string, number>> {
  const killLedger = async () => {
    const [victim] = on.running
    await victim?.kill('SIGKILL')
    await Bun.sleep(RESTART_AFTER_MS)
    on.start()
  }
  const kinds: Record<string, () => Promise<unknown>> = {
    'ledger killed': killLedger,
    'Postgres crashed': crashPostgres,
    'ledger killed again': killLedger,
    'nats-server killed': async () => {
      await on.broker.kill9()
      await Bun.sleep(RESTART_AFTER_MS)
      await on.broker.restart()
    },
    'both ledgers killed': () => Promise.all([killLedger(), killLedger()]),
  }
  const counts: Record<string, number> = {}
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until) {
    for (const [kind, fault] of Object.entries(kinds)) {
      await Bun.sleep(PAUSE_BETWEEN_FAULTS_MS)
      await fault()
      counts[kind] = (counts[kind] ?? 0) + 1
    }
  }
  return counts
}

async function wrongIds(on: Stack, answers: Map<string, Answer>): Promise<string[]> {
  const rows = await on.rows(
    'select op_id, count(*)::int as times, min(refusal::text) as refusal from journal group by op_id',
  )
  const journalled = new Map(
    rows.map(({ op_id, times, refusal }) => [String(op_id), `${times} ${refusal ?? 'posted'}`]),
  )
  return [...answers]
    .filter(([id, answer]) => journalled.get(id) !== `1 ${answer.status === 'refused' ? answer.reason : 'posted'}`)
    .map(([id, answer]) => `${id}: answered ${answer.status}, journalled ${journalled.get(id) ?? 'nothing'}`)
}

async function openHolds(on: Stack): Promise<number> {
  const [row] = await on.rows('select count(*)::int as holds from open_hold')
  return Number(row?.holds)
}
