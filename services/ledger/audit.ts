import { checks } from './checks.ts'
import { readAuditConfig } from './config.ts'
import { audit, openAudits } from './store.ts'

/**
 * `bun run audit`: proves every invariant of the ledger on one snapshot, and names each row that breaks one. Asks the
 * database of DATABASE_ADMIN_URL, LEDGER_DATABASE_URL or DATABASE_URL, else of the running local stack (LOCAL_DIR).
 * Ends with 0 when all is well, 1 when something is broken, 2 when it could not look.
 */
async function report(): Promise<number> {
  const database = openAudits(readAuditConfig(process.env))
  const started = performance.now()
  const broken = await audit(database).finally(() => database.close())
  for (const { name, guarantee } of checks) {
    const rows = broken.filter(({ check }) => check === name)
    console.log(`${rows.length === 0 ? 'ok    ' : 'BROKEN'}  ${name}: ${guarantee}`)
    for (const { row, expected, found } of rows) console.log(`          ${row}: expected ${expected}, found ${found}`)
  }
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  console.log(
    broken.length === 0 ? `audit: clean, in ${seconds} s` : `audit: ${broken.length} broken rows, in ${seconds} s`,
  )
  return broken.length === 0 ? 0 : 1
}

process.exitCode = await report().catch(fault => {
  console.error(`audit: could not look: ${fault instanceof Error ? fault.message : fault}`)
  return 2
})
