/** A user and the subjects it may publish to and subscribe to. */
export interface NatsUser {
  name: string
  password: string
  publish: readonly string[]
  subscribe: readonly string[]
}

export interface NatsConfig {
  users: readonly NatsUser[]
  host: string
  port: number
  serverName: string
  /** Of JetStream. */
  storeDir: string
  pidFile: string
}

const MAX_PAYLOAD = '1MB'
/** Rate limits and short-lived facts live in memory; a full store refuses, it does not push old messages out. */
const MAX_MEMORY_STORE = '512MB'
const MAX_FILE_STORE = '10GB'
/** A responder may answer one question this long after it was asked; the longest wait of a caller is shorter. */
const RESPONSE_EXPIRES = '1m'

/**
 * The text of a nats-server configuration: JetStream, one account, one user each, nothing allowed that is not listed.
 * Valid for nats-server 2.9.10 and later (`sync_interval` came with 2.10, so Postgres has to be the truth).
 */
export function natsConfig({ users, host, port, serverName, storeDir, pidFile }: NatsConfig): string {
  return `host: ${quote(host)}
port: ${port}
server_name: ${quote(serverName)}
pid_file: ${quote(pidFile)}
max_payload: ${MAX_PAYLOAD}
jetstream {
  store_dir: ${quote(storeDir)}
  max_mem: ${MAX_MEMORY_STORE}
  max_file: ${MAX_FILE_STORE}
}
accounts {
  TOLLGATE {
    jetstream: enabled
    users: [
${users.map(user).join('\n')}
    ]
  }
}
`
}

function user({ name, password, publish, subscribe }: NatsUser): string {
  return `      { user: ${quote(name)}, password: ${quote(password)}, permissions: {
        publish: { allow: ${list(publish)} }
        subscribe: { allow: ${list(subscribe)} }
        allow_responses: { max: 1, expires: ${quote(RESPONSE_EXPIRES)} }
      } }`
}

/** An empty list would mean "everything". */
function list(subjects: readonly string[]): string {
  if (subjects.length === 0) return `[${quote('_nothing')}]`
  return `[${subjects.map(quote).join(', ')}]`
}

/** Subjects begin with `$` (`$JS.API`), which the configuration language takes for a variable outside of quotes. */
function quote(text: string): string {
  if (/["\\\n]/.test(text)) throw new Error(`not allowed in a nats-server configuration: ${JSON.stringify(text)}`)
  return `"${text}"`
}
