import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** One process of a service. */
export interface Replica {
  /** `http://host:port`, without a path. */
  readonly url: string
  /** Requests that it has not finished. */
  outstanding: number
  /** It refused a connection just now: others are asked first until then (ms, monotonic). */
  asideUntil: number
}

/** After a refused connection. A supervised service is back within a second. */
const ASIDE_MS = 500
/** How long a name's addresses are used before they are looked up again. */
const RESOLVE_EVERY_MS = 5_000

/** The replicas of one service: a list of URLs, or names that resolve to several addresses. */
export class Replicas {
  readonly #urls: readonly URL[]
  readonly #nowMs: () => number
  #all: Replica[] = []
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(urls: readonly string[], nowMs: () => number = () => performance.now()) {
    this.#urls = urls.map(url => new URL(url))
    this.#nowMs = nowMs
    this.#use(this.#urls.map(url => url.origin))
  }

  get all(): readonly Replica[] {
    return this.#all
  }

  /** Requests that they have not finished, all together. */
  get outstanding(): number {
    let sum = 0
    for (const replica of this.#all) sum += replica.outstanding
    return sum
  }

  /** Looks names up now and every few seconds; addresses need none of it. */
  async follow(): Promise<void> {
    if (this.#urls.every(url => isIP(hostOf(url)) !== 0)) return
    await this.#resolve()
    this.#timer = setInterval(() => void this.#resolve(), RESOLVE_EVERY_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** In the order of asking: who is there, then who has least to do. Ties go round, so that idle replicas share. */
  inOrder(): Replica[] {
    const now = this.#nowMs()
    const [first, ...rest] = this.#all
    if (first) this.#all = [...rest, first]
    return this.#all.toSorted(
      (a, b) => Number(a.asideUntil > now) - Number(b.asideUntil > now) || a.outstanding - b.outstanding,
    )
  }

  putAside(replica: Replica): void {
    replica.asideUntil = this.#nowMs() + ASIDE_MS
  }

  async #resolve(): Promise<void> {
    const origins = await Promise.all(this.#urls.map(originsOf))
    // A name that does not resolve just now keeps the addresses that it had.
    if (origins.every(found => found.length > 0)) this.#use(origins.flat())
  }

  /** Keeps what is known of the replicas that stay. */
  #use(origins: readonly string[]): void {
    const known = new Map(this.#all.map(replica => [replica.url, replica]))
    this.#all = [...new Set(origins)].map(url => known.get(url) ?? { url, outstanding: 0, asideUntil: 0 })
  }
}

/** The replicas of every service; names are looked up before this resolves. */
export async function openReplicas<Name extends string>(
  urls: Readonly<Record<Name, readonly string[]>>,
): Promise<Record<Name, Replicas>> {
  const entries = Object.entries<readonly string[]>(urls).map(([name, list]) => [name, new Replicas(list)] as const)
  await Promise.all(entries.map(([, replicas]) => replicas.follow()))
  // Made from the keys of `urls`, one each.
  return Object.fromEntries(entries) as Record<Name, Replicas>
}

async function originsOf(url: URL): Promise<string[]> {
  if (isIP(hostOf(url)) !== 0) return [url.origin]
  try {
    const found = await lookup(hostOf(url), { all: true })
    const port = url.port === '' ? '' : `:${url.port}`
    return found.map(({ address, family }) => `http://${family === 6 ? `[${address}]` : address}${port}`)
  } catch {
    return []
  }
}

/** Without the brackets of IPv6. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}
