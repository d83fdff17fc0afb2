import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { openDatabase } from '@tollgate/db'
import { postgres, type TestPostgres } from '@tollgate/testing'
import type { Chain, Listed } from './chain.ts'
import { PAGE_LIMIT } from './chain.ts'
import { sweep } from './scan.ts'
import { createStore } from './store.ts'

let database: TestPostgres
let store: ReturnType<typeof createStore>
let close: () => Promise<void>
beforeAll(async () => {
  database = await postgres({ services: ['chain-watcher'] })
  const opened = openDatabase({ url: database.urls['chain-watcher'].runtime, connections: 2, applicationName: 'test' })
  store = createStore(opened)
  close = opened.close
}, 30_000)
afterAll(async () => {
  await close()
  await database.stop()
})

let round = 0
let watched = { genesisHash: 'g', tokenAccount: 'a' }
beforeEach(() => {
  watched = { genesisHash: `g${round++}`, tokenAccount: 'a' }
})

/** A node with this history (newest first), answered in pages. */
function nodeWith(history: Listed[]) {
  const asked: (string | null)[] = []
  const signatures: Chain['signatures'] = async (_address, before) => {
    asked.push(before)
    const from = before === null ? 0 : history.findIndex(({ signature }) => signature === before) + 1
    return history.slice(from, from + PAGE_LIMIT)
  }
  // The scan asks for lists of signatures only.
  return { asked, chain: { signatures } as Chain }
}
const look = (chain: Chain, more: { fromSlot?: number; deep?: boolean } = {}) =>
  sweep({ chain, store, watched, fromSlot: 0, deep: false, ...more })
const entry = (slot: number, failed = false): Listed => ({ signature: `${watched.genesisHash}-${slot}`, slot, failed })
const history = (newest: number, oldest = 1) =>
  Array.from({ length: newest - oldest + 1 }, (_, index) => entry(newest - index))
/** All that waits to be read, of this test. */
const noted = async () => {
  const unread = await store.unread(100_000)
  return unread.map(({ signature }) => signature).filter(signature => signature.startsWith(`${watched.genesisHash}-`))
}

test('the first look lists everything from the slot of interest on, page by page, and sets the cursor', async () => {
  const { chain, asked } = nodeWith(history(2_500))
  await look(chain, { fromSlot: 11 })
  expect(await noted()).toHaveLength(2_490)
  expect(await store.cursor(watched)).toBe(2_500)
  expect(asked).toHaveLength(3)
})

test('failed transactions are not noted', async () => {
  await look(nodeWith([entry(3), entry(2, true), entry(1)]).chain)
  expect(await noted()).toHaveLength(2)
})

test('a later look reads back to the overlap and no further, and catches what was listed late', async () => {
  await look(nodeWith(history(5_000, 4_000).filter(({ slot }) => slot !== 4_900)).chain)
  const { chain, asked } = nodeWith(history(5_001))
  await look(chain)
  expect(await noted()).toContain(entry(4_900).signature)
  expect(asked).toHaveLength(1)
  expect(await store.cursor(watched)).toBe(5_001)
})

test('a deep look finds what a node left out for hours', async () => {
  await look(nodeWith(history(5_000).filter(({ slot }) => slot !== 2_000)).chain)
  await look(nodeWith(history(5_001)).chain)
  expect(await noted()).not.toContain(entry(2_000).signature)
  await look(nodeWith(history(5_001)).chain, { deep: true })
  expect(await noted()).toContain(entry(2_000).signature)
})

test('a list that ends above the cursor leaves it where it is: what lies between may still come', async () => {
  await look(nodeWith(history(100)).chain)
  await look(nodeWith(history(5_000, 4_000)).chain)
  expect(await store.cursor(watched)).toBe(100)
  await look(nodeWith(history(5_000)).chain)
  expect(await noted()).toHaveLength(5_000)
  expect(await store.cursor(watched)).toBe(5_000)
})

test('a node that lags, or another one with less, never moves the cursor back', async () => {
  await look(nodeWith(history(500)).chain)
  await look(nodeWith(history(450)).chain)
  await look(nodeWith([]).chain)
  expect(await store.cursor(watched)).toBe(500)
})

test('a node whose pages go round in circles does not hold the look for ever', async () => {
  const page = history(PAGE_LIMIT)
  const circling = { signatures: async () => page } as unknown as Chain // only lists are asked for
  await look(circling)
  expect(await noted()).toHaveLength(PAGE_LIMIT)
})

test('another chain has a cursor of its own', async () => {
  await look(nodeWith(history(500)).chain)
  expect(await store.cursor({ ...watched, genesisHash: 'another' })).toBeNull()
})
