import { session } from '@tollgate/db/session'

/** Of 16 MB each: as much as Postgres keeps between two checkpoints (`max_wal_size`). */
const SEGMENTS = 30

/**
 * Makes a new Postgres like one that has run for a while: its WAL goes into files that are there already. Making one stalls every
 * commit for tens of milliseconds, once a second at full load, until the first checkpoint has left some to be used again.
 */
export function aged(adminUrl: string): Promise<void> {
  return session(adminUrl, async run => {
    for (let segment = 0; segment < SEGMENTS; segment++) {
      await run("select pg_logical_emit_message(true, 'bench', ''), pg_switch_wal()")
    }
    await run('checkpoint')
  })
}
