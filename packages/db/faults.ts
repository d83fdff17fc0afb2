/** The database could not be asked, or its answer was lost: what was asked may or may not have happened. Ask again by id. */
export class DatabaseUnavailable extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(`database: ${message}`, options)
    this.name = 'DatabaseUnavailable'
  }
}

/** Driver codes of a lost or refused connection, and the server's own: shutting down, starting up, full, timed out. */
const CONNECTION_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ERR_POSTGRES_CONNECTION_CLOSED',
  '57P01',
  '57P02',
  '57P03',
  '57014',
  '53300',
  '25006',
])

export function isConnectionFault(error: unknown): boolean {
  // drizzle wraps the driver's error as the cause of its own.
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    if (!('code' in at) || typeof at.code !== 'string') continue
    if (CONNECTION_CODES.has(at.code) || at.code.startsWith('08')) return true
  }
  return false
}

const UNIQUE_VIOLATION = '23505'

/** Whether a statement failed because another row holds the same unique key; `constraint` narrows it to one. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    if (!('code' in at) || at.code !== UNIQUE_VIOLATION) continue
    return constraint === undefined || ('constraint_name' in at && at.constraint_name === constraint)
  }
  return false
}
