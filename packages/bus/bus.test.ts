import { afterAll, beforeAll, expect, test } from 'bun:test'
import { EVENTS_STREAM, keyChanged, ledger, newId, resolveKey, resolveSession, sessionEnded } from '@tollgate/contracts'
import { eventually, nats, type TestNats } from '@tollgate/testing'
import { type Bus, BusFault, codecOf, connectBus, fromBytes } from './index.ts'

let server: TestNats
const open: Bus[] = []
const faults: string[] = []

async function as(user: Parameters<TestNats['as']>[0]): Promise<Bus> {
  const { url, password } = server.as(user)
  const bus = await connectBus({ url, user, password, name: `test ${user}`, onFault: subject => faults.push(subject) })
  open.push(bus)
  return bus
}

beforeAll(async () => {
  server = await nats()
})
afterAll(async () => {
  await Promise.all(open.map(bus => bus.close()))
  await server.stop()
})

const account = newId('account')
const balanceOf = { postedMicro: 9_007_199_254_740_991n, heldMicro: 1n, availableMicro: 9_007_199_254_740_990n }
const hash = (n: number) => n.toString().padStart(43, 'A')

test('a question gets its owner’s answer, and amounts cross exactly as bigint', async () => {
  const [asker, owner] = [await as('billing'), await as('ledger')]
  const served = owner.serve(ledger.balance, request => ({
    ...balanceOf,
    heldMicro: request.account === account ? 1n : 0n,
  }))
  expect(await asker.call(ledger.balance, { account })).toEqual(balanceOf)
  await served.drain()
})

test('who is not a listed caller can’t ask, and who is not the owner can’t answer', async () => {
  const [stranger, billing, ledgerBus] = [await as('keys'), await as('billing'), await as('ledger')]
  const served = ledgerBus.serve(ledger.balance, () => balanceOf)
  faults.length = 0
  expect(stranger.call(ledger.balance, { account }, { deadlineMs: 300, attemptMs: 100 })).rejects.toThrow(BusFault)
  await eventually(() => faults.includes('nats'))
  await served.drain()
  // With the owner gone, another service that tries to answer is not let in: the asker hears nobody.
  stranger.serve(ledger.balance, () => balanceOf)
  expect(billing.call(ledger.balance, { account }, { deadlineMs: 200, attemptMs: 100 })).rejects.toThrow(BusFault)
})

test('questions of one turn travel as one message, and each gets its own answer', async () => {
  const [asker, owner] = [await as('router'), await as('keys')]
  const sizes: number[] = []
  const served = owner.serve(resolveKey, async requests => {
    sizes.push(requests.length)
    return requests.map(({ keyHash }) => {
      if (keyHash === hash(7)) return new BusFault('internal', 'poison')
      return keyHash === hash(3)
        ? { status: 'active' as const, key: newId('key'), account, user: newId('user'), models: null, expiresAt: null }
        : { status: 'unknown' as const }
    })
  })
  const answers = await Promise.allSettled(
    Array.from({ length: 300 }, (_, n) => asker.call(resolveKey, { keyHash: hash(n) })),
  )
  expect(sizes).toEqual([128, 128, 44])
  expect(answers.filter(answer => answer.status === 'rejected')).toHaveLength(1)
  expect(answers[3]).toMatchObject({ value: { status: 'active', account } })
  expect(answers[4]).toMatchObject({ value: { status: 'unknown' } })
  await served.drain()
})

test('a question with nobody to answer is asked again until somebody is there', async () => {
  const [asker, owner] = [await as('router'), await as('auth')]
  const asked = asker.call(resolveSession, { sessionHash: hash(1) })
  const served = owner.serve(resolveSession, () => ({ status: 'unknown' as const }))
  expect(await asked).toEqual({ status: 'unknown' })
  await served.drain()
})

test('an answer that was lost is asked for again with the same content', async () => {
  const [asker, owner] = [await as('router'), await as('auth')]
  const heard: string[] = []
  const served = owner.serve(resolveSession, async request => {
    heard.push(request.sessionHash)
    if (heard.length === 1) await new Promise(() => undefined)
    return { status: 'unknown' as const }
  })
  expect(await asker.call(resolveSession, { sessionHash: hash(2) }, { attemptMs: 100 })).toEqual({ status: 'unknown' })
  expect(heard).toEqual([hash(2), hash(2)])
  void served
})

test('what fits no contract is refused on both sides', async () => {
  const asker = await as('router')
  expect(asker.call(resolveSession, { sessionHash: 'short' })).rejects.toMatchObject({ kind: 'invalid' })
  expect(() => codecOf(ledger.hold.request).fromWire({ id: 'hold:x' })).toThrow(BusFault)
})

test('a limit lets exactly its count through in any window, over two routers, and frees places as the window slides', async () => {
  const window = { count: 60, windowMs: 1_500, per: 'user', whenUnknown: 'allow' } as const
  const limiters = [(await as('router')).limiter('chat', window), (await as('router')).limiter('chat', window)]
  await Promise.all(limiters.map(limiter => limiter.ensure()))
  const takes = await Promise.all(Array.from({ length: 200 }, (_, n) => limiters[n % 2]?.take('caller')))
  expect(takes.filter(take => take?.status === 'taken')).toHaveLength(60)
  const full = takes.find(take => take?.status === 'full')
  expect(full).toMatchObject({ status: 'full' })
  expect(full?.status === 'full' && full.retryAfterMs).toBeWithin(1, 1_501)
  expect(await limiters[0]?.take('another')).toEqual({ status: 'taken' })
  await eventually(async () => (await limiters[1]?.take('caller'))?.status === 'taken', { withinMs: 3_000 })
})

test('of a hundred takers of one bucket entry one gets it, and an old entry is gone', async () => {
  const bucket = (await as('auth')).bucket('nonces', 1_000)
  await bucket.put('abc', new TextEncoder().encode('value'))
  const taken = await Promise.all(Array.from({ length: 100 }, () => bucket.take('abc')))
  expect(taken.filter(value => value !== null)).toHaveLength(1)
  expect(await bucket.take('never')).toBeNull()
  await bucket.put('old', new Uint8Array([1]))
  await Bun.sleep(1_500)
  expect(await bucket.take('old')).toBeNull()
})

test('a fact is stored once per id and is consumed at least once, across failures and a restart of the server', async () => {
  const [publisher, reader] = [await as('keys'), await as('consumer')]
  await publisher.ensureStream(EVENTS_STREAM)
  const fact = { v: 1 as const, key: newId('key'), keyHash: hash(9), at: 1 }
  for (let n = 0; n < 3; n++) await publisher.publish(keyChanged, fact, { id: 'change:1' })

  const seen: string[] = []
  const consuming = reader.consume(
    { stream: 'EVENTS', durable: 'consumer', subject: keyChanged.subject },
    async delivery => {
      seen.push(codecOf(keyChanged.payload).fromWire(fromBytes(delivery.data)).key)
      if (seen.length === 1) throw new Error('not this time')
      return 'done'
    },
  )
  await eventually(() => seen.length === 2)
  expect(seen).toEqual([fact.key, fact.key])

  await server.restart()
  const later = { ...fact, key: newId('key') }
  await eventually(() => publisher.publish(keyChanged, later, { id: 'change:2' }).then(() => true), { withinMs: 5_000 })
  await eventually(() => seen.at(-1) === later.key, { withinMs: 5_000 })
  await consuming.stop()
}, 20_000)

test('hints reach whoever listens', async () => {
  const [auth, router] = [await as('auth'), await as('router')]
  const heard: string[] = []
  router.listen(sessionEnded.subject, sessionEnded.payload, ({ session }) => heard.push(session))
  const session = newId('session')
  await auth.ensureStream(EVENTS_STREAM)
  await eventually(async () => {
    await auth.publish(sessionEnded, { v: 1, session, sessionHash: hash(5), at: 1 }, { id: session })
    return heard.includes(session)
  })
})

test('limits are back after the server lost its memory', async () => {
  const limiter = (await as('router')).limiter('topup', {
    count: 1,
    windowMs: 60_000,
    per: 'user',
    whenUnknown: 'allow',
  })
  await limiter.ensure()
  expect(await limiter.take('caller')).toEqual({ status: 'taken' })
  expect(await limiter.take('caller')).toMatchObject({ status: 'full' })
  await server.restart()
  await eventually(async () => (await limiter.take('caller')).status === 'taken', { withinMs: 5_000 })
  expect(await limiter.take('caller')).toMatchObject({ status: 'full' })
}, 20_000)
