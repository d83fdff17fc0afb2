import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres, { type Sql } from 'postgres'
import { DatabaseUnavailable, isConnectionFault } from './faults.ts'

export interface DatabaseOptions {
  url: string
  /** Connections at most. One statement is in flight on each, more wait here. */
  connections?: number
  /** A statement that takes longer is given up, and its pool with it. Above the role's own statement_timeout. */
  queryTimeoutMs?: number
  applicationName: string
}

/**
 * One service's access to its own schema. Every write is one statement: transactions through this driver can leave a
 * pool dead after a backend was killed (postgres.js #1208, #1189; research: ledger, 3.3), and plain statements recover.
 */
export interface Database {
  /** Runs one statement built with drizzle. Throws `DatabaseUnavailable` when the outcome is unknown. */
  run<T>(statement: (db: PostgresJsDatabase) => PromiseLike<T>): Promise<T>
  /** Runs one prepared statement given as text. int8 comes back as `bigint`. */
  query<Row extends object>(text: string, values: readonly (string | number | boolean | null)[]): Promise<Row[]>
  close(): Promise<void>
}

const CONNECTIONS = 8
const QUERY_TIMEOUT_MS = 6_000
const CONNECT_TIMEOUT_S = 3
/** A worn connection is replaced now and then, so that a pool follows a failover of its server. */
const CONNECTION_LIFE_S = 30 * 60

export function openDatabase(options: DatabaseOptions): Database {
  const queryTimeoutMs = options.queryTimeoutMs ?? QUERY_TIMEOUT_MS
  let pool = openPool(options)

  /** The driver has no query timeout, and a statement that hangs holds its connection for ever: begin anew. */
  function discard(worn: Pool): void {
    if (pool !== worn) return
    pool = openPool(options)
    void worn.sql.end({ timeout: 0 }).catch(() => undefined)
  }

  async function guarded<T>(statement: (pool: Pool) => PromiseLike<T>): Promise<T> {
    const used = pool
    let timer: Timer | undefined
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        discard(used)
        reject(new DatabaseUnavailable(`no answer within ${queryTimeoutMs} ms`))
      }, queryTimeoutMs)
    })
    try {
      return await Promise.race([statement(used), timeout])
    } catch (cause) {
      if (isConnectionFault(cause)) throw new DatabaseUnavailable('the connection was lost', { cause })
      throw cause
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    run: statement => guarded(({ orm }) => statement(orm)),
    query: <Row extends object>(text: string, values: readonly (string | number | boolean | null)[]) =>
      // The driver answers rows of whatever the statement selects; its caller names the row it wrote.
      guarded(({ sql }) => sql.unsafe(text, [...values], { prepare: true }) as unknown as PromiseLike<Row[]>),
    close: () => pool.sql.end({ timeout: 5 }),
  }
}

interface Pool {
  sql: Sql<{ bigint: bigint }>
  orm: PostgresJsDatabase
}

function openPool(options: DatabaseOptions): Pool {
  // `max_pipeline` is missing from the driver's types. 0, since 1 lets a second statement onto a busy connection, and
  // those hang when a backend dies.
  const oneInFlight = { max_pipeline: 0 }
  const sql = postgres(options.url, {
    ...oneInFlight,
    max: options.connections ?? CONNECTIONS,
    connect_timeout: CONNECT_TIMEOUT_S,
    max_lifetime: CONNECTION_LIFE_S,
    connection: { application_name: options.applicationName },
    types: { bigint: postgres.BigInt },
    onnotice: () => undefined,
  })
  return { sql, orm: drizzle(sql) }
}
