import { defaultLimits, type Limit, type LimitName, type Route } from '@tollgate/contracts'
import { commonConfig, identityConfig, makeValidator, num, port, readEnvironment } from '@tollgate/service'
import type { Limits } from './limits.ts'

/** What `fetch` allows a process at once unless BUN_CONFIG_MAX_HTTP_REQUESTS says otherwise at its start. */
const BUN_FETCHES_DEFAULT = 256

const origins = makeValidator<ReadonlySet<string>>(text => new Set(entries(text).map(readOrigin)))
const hosts = makeValidator<ReadonlySet<string>>(text => new Set(entries(text).map(host => host.toLowerCase())))
const replicaUrls = makeValidator<readonly string[]>(text => {
  const urls = entries(text).map(readReplicaUrl)
  if (urls.length === 0) throw new Error('must name at least one URL')
  return urls
})
const limits = makeValidator<Limits>(readLimits)

const spec = {
  ...commonConfig,
  ...identityConfig,
  PORT: port({ default: 8080, desc: 'the public port' }),
  OPS_PORT: port({
    default: undefined,
    desc: 'health and metrics for the operator; without it metrics are not served',
  }),
  AUTH_URLS: replicaUrls({ desc: 'replicas of auth: http:// URLs, comma separated; a name may resolve to several' }),
  KEYS_URLS: replicaUrls({ desc: 'replicas of keys' }),
  BILLING_URLS: replicaUrls({ desc: 'replicas of billing' }),
  METERING_PROXY_URLS: replicaUrls({ desc: 'replicas of metering-proxy' }),
  ALLOWED_ORIGINS: origins({ default: new Set<string>(), desc: 'exact origins of browser apps, comma separated' }),
  ALLOWED_HOSTS: hosts({
    default: new Set<string>(),
    desc: 'hosts that we are called by; empty for every well-formed one',
  }),
  TRUSTED_PROXIES: num({ default: 0, desc: 'proxies of ours in front, each of which appends to X-Forwarded-For' }),
  LIMITS: limits({
    default: defaultLimits,
    desc: 'JSON that overrides counts and windows, e.g. {"chat":{"count":100}}',
  }),
  OUTSTANDING_MAX: num({
    default: 4_096,
    desc: 'requests that one service may owe answers to; more are shed with 503',
  }),
  BUN_CONFIG_MAX_HTTP_REQUESTS: num({ default: BUN_FETCHES_DEFAULT, desc: 'read by Bun when the process starts' }),
}

type Config = ReturnType<typeof readConfig>

/**
 * Reads the environment; throws one error that names every problem. Also tells Bun, whose `fetch` would send even what is for
 * 127.0.0.1 through HTTP_PROXY, to go without: all that the router asks is a service of ours.
 */
export function readConfig(env: NodeJS.ProcessEnv) {
  env.NO_PROXY = '*'
  return readEnvironment(spec, env)
}

/** Where the replicas of each service are. */
export function serviceUrls(config: Config): Readonly<Record<Route['service'], readonly string[]>> {
  return {
    auth: config.AUTH_URLS,
    keys: config.KEYS_URLS,
    billing: config.BILLING_URLS,
    'metering-proxy': config.METERING_PROXY_URLS,
  }
}

/** An origin as browsers write it: scheme, host and port, nothing more. */
function readOrigin(text: string): string {
  const isExact = URL.canParse(text) && new URL(text).origin === text && !text.includes('*')
  if (!isExact) throw new Error(`"${text}" is not an origin`)
  return text
}

function readReplicaUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'http:' || url.pathname !== '/' || url.search !== '') {
    throw new Error(`"${text}" is not an http:// URL without a path`)
  }
  return url.origin
}

/** The defaults with the counts and windows that the JSON names. Throws for what is no limit of ours. */
export function readLimits(text: string): Limits {
  const given: unknown = JSON.parse(text)
  if (!isRecord(given)) throw new Error('must be a JSON object')
  const limits: Record<LimitName, Limit> = { ...defaultLimits }
  for (const [name, override] of Object.entries(given)) {
    if (!isLimitName(name)) throw new Error(`there is no limit "${name}"`)
    if (!isRecord(override)) throw new Error(`"${name}" must be an object`)
    limits[name] = { ...limits[name], ...readOverride(name, override) }
  }
  return limits
}

function readOverride(name: string, override: Record<string, unknown>): Partial<Pick<Limit, 'count' | 'windowMs'>> {
  const fields: Record<string, number> = {}
  for (const [field, value] of Object.entries(override)) {
    const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && value > 0
    if ((field !== 'count' && field !== 'windowMs') || !isWhole) {
      throw new Error(`"${name}" takes count and windowMs, positive integers`)
    }
    fields[field] = value
  }
  return fields
}

function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(defaultLimits, name)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function entries(text: string): string[] {
  return text
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '')
}
