import { expect, test } from 'bun:test'
import { hashKey } from '@tollgate/contracts'
import { session } from '@tollgate/db/session'
import { postgres } from '@tollgate/testing'
import { seed } from './seed.ts'

test('seeded accounts pass the audit, and their keys are known', async () => {
  await using database = await postgres()
  const seeded = { postgresUrl: database.adminUrl, name: 'first', keys: 4 }
  const keys = await seed({ ...seeded, size: { accounts: 20, journalRows: 140 } })
  await seed({ ...seeded, name: 'second', size: { accounts: 7, journalRows: 7 } })

  const counts = await session(database.adminUrl, run =>
    run(`select (select count(*)::int from ledger.account) as accounts, (select count(*)::int from ledger.journal) as journal,
      (select count(*)::int from keys.secret s join keys.key k on k.id = s.key_id
        join ledger.key_cap c on c.id = k.id and c.account = k.account_id where s.hash = '${hashKey(keys[3] ?? '')}') as known`),
  )
  expect(counts).toEqual([{ accounts: 27, journal: 147, known: 1 }])
  const audit = Bun.spawn([process.execPath, 'services/ledger/audit.ts'], {
    env: { PATH: process.env.PATH ?? '', DATABASE_ADMIN_URL: database.adminUrl },
    stdout: 'pipe',
  })
  expect(await audit.stdout.text()).toContain('audit: clean')
})
