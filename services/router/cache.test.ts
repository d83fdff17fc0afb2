import { expect, test } from 'bun:test'
import { Cache } from './cache.ts'

function cacheAt(options: { entriesMax?: number; ttlMs?: number } = {}) {
  const clock = { now: 0 }
  const cache = new Cache<string>({
    entriesMax: options.entriesMax ?? 100,
    ttlMs: () => options.ttlMs ?? 1_000,
    now: () => clock.now,
  })
  return { cache, clock }
}

test('a value is known until its time is over, counted from the asking and not from the answer', async () => {
  const { cache, clock } = cacheAt({ ttlMs: 1_000 })
  const { promise, resolve } = Promise.withResolvers<string>()
  const loading = cache.load('a', () => promise)
  clock.now = 400
  resolve('first')
  expect(await loading).toBe('first')
  clock.now = 999
  expect(cache.peek('a')).toBe('first')
  clock.now = 1_000
  expect(cache.peek('a')).toBeUndefined()
})

test('a thousand askers of one key are one look-up', async () => {
  const { cache } = cacheAt()
  let lookups = 0
  const values = await Promise.all(Array.from({ length: 1_000 }, () => cache.load('a', async () => `${++lookups}`)))
  expect(new Set(values)).toEqual(new Set(['1']))
  expect(lookups).toBe(1)
})

test('what is forgotten while it is looked up is answered but not kept, and the next asker looks anew', async () => {
  const { cache } = cacheAt()
  for (const forget of [() => cache.forget('a'), () => cache.clear(), () => cache.forgetWhere(() => false)]) {
    const { promise, resolve } = Promise.withResolvers<string>()
    const before = cache.load('a', () => promise)
    forget()
    const after = cache.load('a', async () => 'new')
    expect(await after).toBe('new')
    resolve('old')
    expect(await before).toBe('old')
    expect(cache.peek('a')).toBe('new')
    cache.clear()
  }
})

test('a look-up that fails is not kept, and everybody who waited hears of it', async () => {
  const { cache } = cacheAt()
  const failing = () => Promise.reject(new Error('away'))
  const both = await Promise.allSettled([cache.load('a', failing), cache.load('a', failing)])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(cache.loading).toBe(0)
  expect(await cache.load('a', async () => 'back')).toBe('back')
})

test('it holds no more than its bound, and the least recently used goes first', async () => {
  const { cache } = cacheAt({ entriesMax: 3 })
  for (const key of ['a', 'b', 'c']) await cache.load(key, async () => key)
  cache.peek('a')
  await cache.load('d', async () => 'd')
  expect(cache.size).toBe(3)
  expect([cache.peek('a'), cache.peek('b')]).toEqual(['a', undefined])
})

test('what has no time to live is not kept', async () => {
  const { cache } = cacheAt({ ttlMs: 0 })
  await cache.load('a', async () => 'expired already')
  expect(cache.size).toBe(0)
})
