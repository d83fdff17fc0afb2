/** Misbehaviour of the node, for tests of those who must live with real ones. All off by default. */
export type FaultSettings = {
  /** The first N getTransaction calls for each signature answer null, although it is listed ("not indexed yet"). */
  transactionNullCalls: number
  /** getSignaturesForAddress swaps neighbours. */
  reorderSignatures: boolean
  /** Signatures that listings and statuses leave out, as holes in a node's index do. */
  hiddenSignatures: string[]
  /** getTransaction demands a newer maxSupportedTransactionVersion (-32015), whatever the client offers. */
  unsupportedVersion: boolean
  /** Block times are null. */
  nullBlockTime: boolean
  /** The node lags: it does not know the newest N slots and their transactions yet. */
  lagSlots: number
  /** The next N HTTP requests answer 429. */
  tooManyRequests: number
  /** The next N HTTP requests answer a web page with this status instead of JSON. */
  htmlAnswers: number
  htmlStatus: number
  /** Every HTTP answer comes this much later. */
  delayMs: number
  /** `silent`: subscriptions are accepted, nothing is ever told. `refused`: no new connection is accepted. */
  webSocket: 'working' | 'silent' | 'refused'
}

const NO_FAULTS: FaultSettings = {
  transactionNullCalls: 0,
  reorderSignatures: false,
  hiddenSignatures: [],
  unsupportedVersion: false,
  nullBlockTime: false,
  lagSlots: 0,
  tooManyRequests: 0,
  htmlAnswers: 0,
  htmlStatus: 200,
  delayMs: 0,
  webSocket: 'working',
}

/** What a test can do to a node. */
export type FaultControls = {
  settings(): FaultSettings
  set(changes: Partial<FaultSettings>): void
  /** Switches all settings off. */
  reset(): void
  /** Undoes a transaction and all later ones, as a fork that lost does; answers their signatures, oldest first. */
  rollback(signature: string): string[]
  /** Cuts every open WebSocket; clients may connect again. */
  dropSockets(): void
  /** Refuses every connection for so long, and cuts those that are open; 0 ends that at once. */
  goDown(ms: number): void
}

/** The faults in force. Changes take effect with the next request. */
export class Faults {
  settings: FaultSettings = NO_FAULTS
  readonly #withheld = new Map<string, number>()

  set(changes: Partial<FaultSettings>): void {
    this.settings = { ...this.settings, ...changes }
    this.#withheld.clear()
  }

  reset(): void {
    this.set(NO_FAULTS)
  }

  /** Whether getTransaction still has to deny that it knows a signature; counts the call. */
  withholds(signature: string): boolean {
    const calls = (this.#withheld.get(signature) ?? 0) + 1
    this.#withheld.set(signature, calls)
    return calls <= this.settings.transactionNullCalls
  }

  /** The answer that spoils this HTTP request, or null when it may pass; counts the request. */
  spoil(): Response | null {
    const { tooManyRequests, htmlAnswers, htmlStatus } = this.settings
    if (tooManyRequests > 0) {
      this.settings = { ...this.settings, tooManyRequests: tooManyRequests - 1 }
      return new Response('Too many requests', { status: 429, headers: { 'retry-after': '1' } })
    }
    if (htmlAnswers > 0) {
      this.settings = { ...this.settings, htmlAnswers: htmlAnswers - 1 }
      const headers = { 'content-type': 'text/html' }
      return new Response('<html><body><h1>We will be back soon</h1></body></html>', { status: htmlStatus, headers })
    }
    return null
  }
}

/** Checks settings that came over HTTP: known names, and values of the default's type. Throws on others. */
export function parseFaults(value: unknown): Partial<FaultSettings> {
  if (typeof value !== 'object' || value === null) throw new Error('Faults are an object')
  for (const [name, setting] of Object.entries(value)) {
    const usual = Object.entries(NO_FAULTS).find(([known]) => known === name)?.[1]
    if (usual === undefined) throw new Error(`Unknown fault: ${name}`)
    if (typeof setting !== typeof usual || Array.isArray(setting) !== Array.isArray(usual)) {
      throw new Error(`The fault ${name} takes a value such as ${JSON.stringify(usual)}`)
    }
  }
  return value
}
