import { openDatabase } from '@tollgate/db'
import { readRetentionConfig } from './config.ts'
import { retire } from './store.ts'

/**
 * `bun run retention`: drops the journal's months that are older than JOURNAL_KEEP_DAYS (what they add up to is carried, so
 * that every sum of the audit stays whole), and forgets operations older than OP_KEEP_DAYS, except those that brought money
 * in. As the owner's role or an administrator: the service's own role has no right to. Run it daily.
 */
const config = readRetentionConfig(process.env)
const database = openDatabase({
  url: config.DATABASE_OWNER_URL.reveal(),
  applicationName: 'ledger retention',
  connections: 1,
  queryTimeoutMs: config.TIMEOUT_MS,
})
try {
  const { months, operations } = await retire(database, config.JOURNAL_KEEP_DAYS, config.OP_KEEP_DAYS)
  console.log(`retention: dropped ${months} months of the journal, forgot ${operations} operations`)
} catch (fault) {
  console.error(`retention: stopped: ${fault instanceof Error ? fault.message : fault}`)
  process.exitCode = 1
} finally {
  await database.close()
}
