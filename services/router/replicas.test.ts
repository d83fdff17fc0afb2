import { expect, test } from 'bun:test'
import { Replicas } from './replicas.ts'

const urls = ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3']
const names = (replicas: Replicas) => replicas.inOrder().map(({ url }) => url.at(-1))

test('who has least to do is asked first', () => {
  const replicas = new Replicas(urls)
  replicas.all.forEach((replica, index) => {
    replica.outstanding = [5, 0, 2][index] ?? 0
  })
  expect(names(replicas)).toEqual(['2', '3', '1'])
  expect(replicas.outstanding).toBe(7)
})

test('idle replicas take turns', () => {
  const replicas = new Replicas(urls)
  expect(new Set([1, 2, 3].map(() => names(replicas)[0])).size).toBe(3)
})

test('who refused a connection is asked last for a moment, and never left out', () => {
  const clock = { now: 0 }
  const replicas = new Replicas(urls, () => clock.now)
  const [first] = replicas.inOrder()
  if (!first) throw new Error('there are three')
  replicas.putAside(first)
  expect(replicas.inOrder().at(-1)).toBe(first)
  expect(replicas.inOrder()).toHaveLength(3)
  for (const other of replicas.all) if (other !== first) other.outstanding = 1
  clock.now = 501
  expect(replicas.inOrder()[0]).toBe(first)
})

test('a name becomes its addresses, and one that does not resolve keeps what it had', async () => {
  const local = new Replicas(['http://localhost:4000'])
  await local.follow()
  local.stop()
  expect(
    local.all.map(({ url }) => url).some(url => url === 'http://127.0.0.1:4000' || url === 'http://[::1]:4000'),
  ).toBe(true)
  const unknown = new Replicas(['http://no-such-host.invalid:4000'])
  await unknown.follow()
  unknown.stop()
  expect(unknown.all.map(({ url }) => url)).toEqual(['http://no-such-host.invalid:4000'])
})
