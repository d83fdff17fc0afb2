import { openDatabase } from '@tollgate/db'
import type { Row } from '@tollgate/db/session'
import { postgres } from '@tollgate/testing'
import { createBatcher } from '../batcher.ts'
import { openStore } from '../store.ts'

/** To start Postgres and a ledger on a machine that is busy with other things. */
export const START_MS = 60_000

/** A ledger in this process on a fresh database with the real roles; `writer()` opens another one beside it. */
export async function rig() {
  const database = await postgres({ services: ['ledger'] })
  const adminUrl = `${database.adminUrl}?search_path=ledger`
  const opened: { close(): Promise<void> }[] = []
  const open = (connections: number, url = database.urls.ledger.runtime) => {
    const pool = openDatabase({ url, applicationName: 'ledger test', connections })
    opened.push(pool)
    return pool
  }
  const reads = open(2)
  const admin = open(1, adminUrl)
  const writer = () => {
    const store = openStore({ writes: open(1), reads })
    return { store, batcher: createBatcher({ apply: store.apply }) }
  }
  return {
    ...writer(),
    writer,
    urls: database.urls.ledger,
    adminUrl,
    /** As the superuser, around every rule: to look at rows, move time or break things. */
    admin: (statement: string): Promise<Row[]> => admin.query<Row>(statement, []),
    async close() {
      await Promise.all(opened.map(pool => pool.close()))
      await database.stop()
    },
  }
}

export type Rig = Awaited<ReturnType<typeof rig>>
