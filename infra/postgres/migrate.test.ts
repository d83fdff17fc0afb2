import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@tollgate/db/migrate'
import { session } from '@tollgate/db/session'
import { postgres, type TestPostgres } from '@tollgate/testing'

let database: TestPostgres
let directory: string
let schema: string
let count = 0

beforeAll(async () => {
  database = await postgres({ services: ['keys'] })
})
afterAll(() => database.stop())
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-migrate-'))
  schema = `migrate_${++count}`
  await session(database.adminUrl, run => run(`create schema ${schema} authorization keys_owner`))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
const run = () => migrate({ url: database.urls.keys.owner, schema, directory })
const select = (query: string) => session(database.adminUrl, ask => ask(query))

test('new files are applied once, in the order of their names, and belong to the owner', async () => {
  write('0002_row.sql', `insert into thing values (1)`)
  write('0001_table.sql', `create table thing (id int)`)
  write('notes.txt', `not SQL`)
  expect(await run()).toEqual(['0001_table.sql', '0002_row.sql'])
  expect(await run()).toEqual([])
  write('0003_row.sql', `insert into thing values (2)`)
  expect(await run()).toEqual(['0003_row.sql'])
  expect(await select(`select id from ${schema}.thing order by id`)).toEqual([{ id: 1 }, { id: 2 }])
  expect(
    await select(`select tableowner from pg_tables where schemaname = '${schema}' and tablename = 'thing'`),
  ).toEqual([{ tableowner: 'keys_owner' }])
})

test('services that start together apply each file once', async () => {
  write('0001_table.sql', `create table thing (id int); insert into thing values (1); select pg_sleep(0.05)`)
  const applied = await Promise.all(Array.from({ length: 6 }, run))
  expect(applied.flat()).toEqual(['0001_table.sql'])
  expect(await select(`select id from ${schema}.thing`)).toEqual([{ id: 1 }])
})

test('a file that fails leaves nothing of itself, and the ones before it stay', async () => {
  write('0001_table.sql', `create table thing (id int)`)
  write('0002_broken.sql', `insert into thing values (1); select * from nowhere`)
  await expect(run()).rejects.toThrow(`migration ${schema}/0002_broken.sql: relation "nowhere" does not exist`)
  expect(await select(`select id from ${schema}.thing`)).toEqual([])
  write('0002_broken.sql', `insert into thing values (2)`)
  expect(await run()).toEqual(['0002_broken.sql'])
})

test('what was applied may not change, go, or be preceded by something new', async () => {
  write('0002_table.sql', `create table thing (id int)`)
  await run()
  write('0002_table.sql', `create table thing (id bigint)`)
  await expect(run()).rejects.toThrow('0002_table.sql was changed after it was applied')
  write('0002_table.sql', `create table thing (id int)`)
  write('0001_late.sql', `select 1`)
  await expect(run()).rejects.toThrow('0001_late.sql is new but sorts before 0002_table.sql')
  rmSync(join(directory, '0002_table.sql'))
  await expect(run()).rejects.toThrow('0002_table.sql was applied and is gone')
})

test('a service without migrations has none', async () => {
  expect(await migrate({ url: database.urls.keys.owner, schema, directory: join(directory, 'absent') })).toEqual([])
})
