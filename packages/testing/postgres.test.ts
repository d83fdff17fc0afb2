import { afterAll, expect, test } from 'bun:test'
import { session } from '@tollgate/db/session'
import { eventually } from '@tollgate/process'
import { postgres } from './postgres.ts'

const opened: { stop(): Promise<void> }[] = []
afterAll(() => Promise.all(opened.map(database => database.stop())))

test('two databases share nothing', async () => {
  const [one, other] = await Promise.all([postgres({ services: ['keys'] }), postgres({ services: ['keys'] })])
  opened.push(one, other)
  await session(one.urls.keys.owner, run => run('create table only_here (id int)'))
  await expect(session(other.urls.keys.owner, run => run('select * from only_here'))).rejects.toThrow('does not exist')
})

test('a service may use its schema, own nothing, and reach no other service', async () => {
  const database = await postgres({ services: ['keys', 'billing'] })
  opened.push(database)
  const { keys, billing } = database.urls
  await session(keys.owner, run =>
    run(`create table own (id int); grant select on own to keys;
         create function secret() returns int language sql as 'select 1'`),
  )
  expect(await session(keys.runtime, run => run('select id from own'))).toEqual([])
  await expect(session(keys.runtime, run => run('insert into own values (1)'))).rejects.toThrow('permission denied')
  await expect(session(keys.runtime, run => run('create table mine (id int)'))).rejects.toThrow('permission denied')
  await expect(session(keys.runtime, run => run('select secret()'))).rejects.toThrow('permission denied')
  await expect(session(billing.runtime, run => run('select id from keys.own'))).rejects.toThrow('permission denied')
  const wrong = keys.runtime.replace(/:[^:@]*@/, ':wrong@')
  await expect(session(wrong, run => run('select 1'))).rejects.toThrow('password authentication failed')
})

test('an immediate restart keeps what was committed, on the same port', async () => {
  const database = await postgres({ services: ['keys'], ownCluster: true })
  opened.push(database)
  await session(database.urls.keys.owner, run => run('create table kept (id int); insert into kept values (1)'))
  await database.restart({ immediate: true })
  const rows = await eventually(() => session(database.urls.keys.owner, run => run('select id from kept')))
  expect(rows).toEqual([{ id: 1 }])
}, 30_000)
