import postgres from 'postgres'

export type Row = Record<string, unknown>
/** Runs one statement; without values it may be several, which then commit or fail together. */
export type Run = (statement: string, values?: string[]) => Promise<Row[]>

const CONNECT_TIMEOUT_S = 10

/**
 * One connection for administration (roles, migrations, test databases): statements run in order, then it closes.
 * Services use `open`, which survives restarts of Postgres.
 */
export async function session<T>(
  url: string,
  use: (run: Run) => Promise<T>,
  settings: Record<string, string> = {},
): Promise<T> {
  const client = postgres(url, {
    max: 1,
    prepare: false,
    connect_timeout: CONNECT_TIMEOUT_S,
    connection: settings,
    onnotice: () => {},
  })
  try {
    return await use(async (statement, values) => [...(await client.unsafe<Row[]>(statement, values ?? []))])
  } finally {
    await client.end({ timeout: 1 })
  }
}
