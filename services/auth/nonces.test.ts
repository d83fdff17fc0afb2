import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bus, connectBus } from '@tollgate/bus'
import { NONCE_BUCKET } from '@tollgate/contracts'
import { eventually, nats, type TestNats } from '@tollgate/testing'
import { NONCE_TTL_MS, openNonces } from './nonces.ts'

let server: TestNats
let bus: Bus
beforeAll(async () => {
  server = await nats()
  bus = await connectBus({ ...server.as('auth'), user: 'auth', name: 'test' })
})
afterAll(async () => {
  await bus.close()
  await server.stop()
})

const address = '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS'
const origin = 'https://app.example'

test('a nonce is good until its text says, and not from then on', async () => {
  const clock = { now: 1_800_000_000_000 }
  const nonces = openNonces(bus.bucket(NONCE_BUCKET, NONCE_TTL_MS), 'localnet', () => clock.now)
  const [early, late] = [await nonces.give({ address, origin }), await nonces.give({ address, origin })]
  clock.now += NONCE_TTL_MS - 1
  expect(await nonces.take({ nonce: early.nonce, address, origin })).toBe(early.message)
  clock.now += 1
  expect(await nonces.take({ nonce: late.nonce, address, origin })).toBeNull()
})

test('a nonce is its wallet’s and its page’s, once', async () => {
  const bucket = bus.bucket(NONCE_BUCKET, NONCE_TTL_MS)
  const nonces = openNonces(bucket, 'localnet')
  const { nonce } = await nonces.give({ address, origin })
  expect(nonce).toMatch(/^[0-9a-f]{32}$/)
  expect(await nonces.take({ nonce, address: `${address}1`, origin })).toBeNull()
  expect(await nonces.take({ nonce, address, origin: 'https://other.example' })).toBeNull()
  expect(await nonces.take({ nonce, address, origin })).not.toBeNull()
  expect(await nonces.take({ nonce, address, origin })).toBeNull()
})

test('a nonce survives a restart of nats-server, and two replicas share it', async () => {
  const other = await connectBus({ ...server.as('auth'), user: 'auth', name: 'replica' })
  const one = openNonces(bus.bucket(NONCE_BUCKET, NONCE_TTL_MS), 'localnet')
  const two = openNonces(other.bucket(NONCE_BUCKET, NONCE_TTL_MS), 'localnet')
  const { nonce, message } = await one.give({ address, origin })
  await server.restart()
  await eventually(() => bus.connected && other.connected)
  const takes = await Promise.all([one, two, one, two].map(nonces => nonces.take({ nonce, address, origin })))
  expect(takes.filter(taken => taken !== null)).toEqual([message])
  await other.close()
}, 20_000)
