import { afterAll, beforeAll, expect, test } from 'bun:test'
import { codecOf, connectBus, fromBytes } from '@tollgate/bus'
import { type BusUser, EVENTS_STREAM, ledger, newId } from '@tollgate/contracts'
import { session } from '@tollgate/db/session'
import { eventually, nats } from '@tollgate/testing'
import { messagesOf } from './journal.ts'
import { relay } from './relay.ts'
import { credit } from './test/requests.ts'
import { type Rig, rig, START_MS } from './test/rig.ts'

let on: Rig
beforeAll(async () => {
  on = await rig()
}, START_MS)
afterAll(() => on.close(), START_MS)

const account = newId('account')

function recording(fail: () => boolean = () => false) {
  const published: string[] = []
  const relaying = relay({
    store: on.store,
    publish: async entries => {
      if (fail()) throw new Error('JetStream is away')
      published.push(...entries.map(({ id }) => id))
    },
  })
  const rounds = async (count = 3) => {
    for (let round = 0; round < count; round++) await relaying.round()
  }
  /** A round waits for whatever transaction is open, those of other tests on this Postgres too. */
  const told = (count: number) => eventually(() => relaying.round().then(() => published.length >= count))
  return { published, relaying, rounds, told }
}

const progress = async () =>
  BigInt(String((await on.admin("select progress from duty where name = 'relay'"))[0]?.progress))

test('an entry that commits after one with a higher number is not skipped, and the order is kept', async () => {
  const { published, relaying, rounds, told } = recording()
  relaying.begin(await progress())
  const slow = 'credit:slow'
  const early = credit(account, 1n)
  const late = credit(account, 2n)
  await on.batcher.submit(early)
  await session(on.adminUrl, async run => {
    await run('begin')
    await run(
      `insert into journal (seq, at, op_id, kind, account, amount_micro, hold_micro, shortfall_micro, posted_micro, held_micro, detail)
       values (nextval('journal_seq'), now(), '${slow}', 'credit', 'acct_slow', 1, 0, 0, 1, 0, '{}')`,
    )
    await on.batcher.submit(late)
    await rounds()
    expect(published).toEqual([])
    await run('commit')
  })
  await told(3)
  expect(published).toEqual([early.id, slow, late.id])
})

test('a relay goes on from where the last one got to, and loses nothing when JetStream is away', async () => {
  let away = true
  const first = recording(() => away)
  first.relaying.begin(await progress())
  const asked = [credit(account, 1n), credit(account, 2n)]
  for (const one of asked) await on.batcher.submit(one)
  await expect(first.rounds(1_000)).rejects.toThrow('JetStream is away')
  away = false
  await first.told(2)
  expect(first.published).toEqual(asked.map(({ id }) => id))
  const next = recording()
  next.relaying.begin(await progress())
  const more = credit(account, 3n)
  await on.batcher.submit(more)
  await next.told(1)
  expect(next.published).toEqual([more.id])
})

test(
  'a round that is repeated after a crash is stored once, and what came meanwhile is told too',
  async () => {
    const server = await nats()
    const as = (user: BusUser) => connectBus({ ...server.as(user), user, name: `test ${user}` })
    const [bus, consumer] = await Promise.all([as('ledger'), as('consumer')])
    await bus.ensureStream(EVENTS_STREAM)
    const heard: string[][] = []
    const consuming = consumer.consume(
      { stream: EVENTS_STREAM.name, durable: 'consumer', subject: 'events.ledger.credit', concurrency: 1 },
      async ({ data }) => {
        heard.push(
          codecOf(ledger.journalled.payload)
            .fromWire(fromBytes(data))
            .map(({ id }) => id),
        )
        return 'done'
      },
    )
    const begun = await progress()
    const started = (crash: boolean) => {
      const progressed: typeof on.store.progressed = (name, reached) =>
        crash ? Promise.reject(new Error('crash')) : on.store.progressed(name, reached)
      const relaying = relay({
        store: { ...on.store, progressed },
        publish: entries => bus.enqueueAll(messagesOf(entries)),
      })
      relaying.begin(begun)
      return relaying
    }
    const crashed = async () => {
      const relaying = started(true)
      await expect(
        (async () => {
          for (let round = 0; round < 1_000; round++) await relaying.round()
        })(),
      ).rejects.toThrow('crash')
    }
    try {
      const [one, two, three] = [credit(account, 1n), credit(account, 2n), credit(account, 3n)]
      await on.batcher.submit(one)
      await on.batcher.submit(two)
      await crashed()
      await crashed()
      await on.batcher.submit(three)
      const relaying = started(false)
      await eventually(() => relaying.round().then(() => heard.length >= 2))
      expect(heard).toEqual([
        [one.id, two.id],
        [one.id, two.id, three.id],
      ])
    } finally {
      await consuming.stop()
      await Promise.all([bus.close(), consumer.close()])
      await server.stop()
    }
  },
  START_MS,
)
