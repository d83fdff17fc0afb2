import type { BusUser, ServiceName } from '@tollgate/contracts'
import type { DatabaseService, ServiceUrls } from '@tollgate/postgres'
import type { ChainInfo } from './gateway-json.ts'

/** What the services need to know of the rest of the stack. */
export interface Surroundings {
  /** Of whoever started the stack. */
  user: Record<string, string | undefined>
  natsUrl: string
  natsPassword(user: BusUser): string
  databaseUrls: Record<DatabaseService, ServiceUrls>
  identitySecret: string
  modelsFile: string
  solanaNetwork: string
  solanaRpcUrls: string
  /** Of the local chain; with another one the user names mint and treasury. */
  chain: Pick<ChainInfo, 'mint' | 'treasury'> | undefined
  routerHosts: string
  /** By service, one URL a replica. */
  urls: Partial<Record<ServiceName, string[]>>
}

export const DEFAULT_APP_ORIGIN = 'http://localhost:3000'

/**
 * The environment of one replica: what the user set, then what only the stack knows. Everything the user set passes
 * through, so every setting of a service is a setting of `npm start`.
 */
export function serviceEnvironment(service: ServiceName, port: number, around: Surroundings): Record<string, string> {
  const user = userSettings(around.user)
  return {
    ...defaults,
    ALLOWED_ORIGINS: user.APP_ORIGIN ?? DEFAULT_APP_ORIGIN,
    ...ownDefaults(service, around),
    ...user,
    HOSTS: service === 'router' ? (user.HOSTS ?? around.routerHosts) : '127.0.0.1',
    PORT: String(port),
    NATS_URL: around.natsUrl,
    NATS_USER: service,
    NATS_PASSWORD: around.natsPassword(service),
    ...(service in around.databaseUrls && { DATABASE_URL: around.databaseUrls[service as DatabaseService].runtime }), // checked by `in`
    ...connections(service, around),
  }
}

/** The environment of the parts that are no services. */
export function baseEnvironment(user: Record<string, string | undefined>): Record<string, string> {
  return { ...defaults, ...userSettings(user) }
}

const defaults = {
  NODE_ENV: 'production',
  APP_ORIGIN: DEFAULT_APP_ORIGIN,
  // Bun lets 256 requests of a process run at once and makes the others wait without a word.
  BUN_CONFIG_MAX_HTTP_REQUESTS: '20000',
}

/** Where the user's word counts more than the stack's. */
function ownDefaults(service: ServiceName, around: Surroundings): Record<string, string> {
  const network = { SOLANA_NETWORK: around.solanaNetwork }
  const identity = { IDENTITY_SECRETS: around.identitySecret }
  switch (service) {
    case 'chain-watcher':
      return { ...network, ...(around.chain && { TOKEN_MINT: around.chain.mint, TREASURY: around.chain.treasury }) }
    case 'billing':
      return { ...network, ...identity, PRICE_SOURCES: 'static', TOKEN_PRICE_USD: '0.5' }
    case 'auth':
      return { ...network, ...identity }
    case 'ledger':
      return {}
    default:
      return identity
  }
}

function connections(service: ServiceName, around: Surroundings): Record<string, string> {
  switch (service) {
    case 'router': {
      const list = (name: ServiceName) => (around.urls[name] ?? []).join(',')
      return {
        AUTH_URLS: list('auth'),
        KEYS_URLS: list('keys'),
        BILLING_URLS: list('billing'),
        METERING_PROXY_URLS: list('metering-proxy'),
      }
    }
    case 'metering-proxy':
      return { MODELS_FILE: around.modelsFile }
    case 'chain-watcher':
      return { SOLANA_RPC_URLS: around.solanaRpcUrls }
    default:
      return {}
  }
}

/** Settings of the stack itself, which mean something else to a service, and what npm adds. */
const ofTheStack = new Set([
  'PORT',
  'LOCAL_DIR',
  'DATABASE_URL',
  'NATS_URL',
  'SOLANA_RPC_URL',
  'MODELS_FILE',
  'SUPERVISED',
])

function userSettings(user: Record<string, string | undefined>): Record<string, string> {
  const entries = Object.entries(user).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !ofTheStack.has(entry[0]) && !/^(npm_|INIT_CWD$)/.test(entry[0]),
  )
  return Object.fromEntries(entries)
}
