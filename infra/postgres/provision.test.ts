import { expect, test } from 'bun:test'
import { session } from '@tollgate/db/session'
import { postgres } from '@tollgate/testing'
import { provision } from './provision.ts'

test('provisioning again, by several at once, changes nothing and fails for nobody', async () => {
  await using database = await postgres()
  const options = { adminUrl: database.adminUrl, secret: 'test' }
  const migrated: string[] = []
  const runs = await Promise.all(
    [1, 2, 3].map(() => provision({ ...options, onMigrated: service => migrated.push(service) })),
  )
  expect(migrated).toEqual([])
  for (const urls of runs) expect(urls).toEqual(database.urls)
})

test('an administrator who is no superuser can provision a database of his own', async () => {
  await using cluster = await postgres({ ownCluster: true, services: ['keys'] })
  const admin = new URL(cluster.adminUrl)
  await session(cluster.adminUrl.replace(/[^/]+$/, 'postgres'), async run => {
    await run(`create role boss login createrole password 'boss'`)
    await run(`create database managed owner boss`)
  })
  admin.username = 'boss'
  admin.password = 'boss'
  admin.pathname = '/managed'
  // The roles of the first database belong to the superuser; a managed server would have none.
  const services = ['billing'] as const
  const urls = await provision({ adminUrl: admin.href, secret: 'managed', services })
  expect(await session(urls.billing.runtime, run => run('select current_user::text as role'))).toEqual([
    { role: 'billing' },
  ])
  await expect(session(urls.billing.runtime, run => run('create table mine (id int)'))).rejects.toThrow(
    'permission denied',
  )
})

test('a statement of a service that takes too long is cancelled', async () => {
  await using database = await postgres({ services: ['keys'] })
  const [row] = await session(database.urls.keys.runtime, run =>
    run(`select current_setting('statement_timeout') as limit`),
  )
  expect(row).toEqual({ limit: '5s' })
})
