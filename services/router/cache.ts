interface Entry<T> {
  value: T
  expiresAt: number
}

/**
 * What another service said, for a moment: bounded in number (the least recently used goes first) and in time. Look-ups of
 * the same key at the same time share one. What is forgotten while it is being looked up is answered but not kept.
 */
export class Cache<T> {
  readonly #entries = new Map<string, Entry<T>>()
  readonly #loading = new Map<string, Promise<T>>()
  readonly #entriesMax: number
  readonly #ttlMs: (value: T) => number
  readonly #now: () => number

  constructor(options: { entriesMax: number; ttlMs(value: T): number; now?: () => number }) {
    this.#entriesMax = options.entriesMax
    this.#ttlMs = options.ttlMs
    this.#now = options.now ?? (() => performance.now())
  }

  get size(): number {
    return this.#entries.size
  }

  /** Look-ups under way. */
  get loading(): number {
    return this.#loading.size
  }

  /** The value at hand; undefined when it must be looked up. */
  peek(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    if (entry.expiresAt <= this.#now()) return undefined
    this.#entries.set(key, entry)
    return entry.value
  }

  /** Looks the value up, unless somebody does already. A look-up that throws is not kept. */
  load(key: string, lookUp: () => Promise<T>): Promise<T> {
    const running = this.#loading.get(key)
    if (running) return running
    const askedAt = this.#now()
    const loading = lookUp()
      .then(value => {
        // Forgotten meanwhile: the answer may be older than the change that it was forgotten for.
        if (this.#loading.get(key) === loading) this.#keep(key, value, askedAt)
        return value
      })
      .finally(() => {
        if (this.#loading.get(key) === loading) this.#loading.delete(key)
      })
    this.#loading.set(key, loading)
    return loading
  }

  forget(key: string): void {
    this.#entries.delete(key)
    this.#loading.delete(key)
  }

  /** Forgets every value that matches, and whatever is being looked up, since that could match as well. */
  forgetWhere(matches: (value: T) => boolean): void {
    for (const [key, entry] of this.#entries) if (matches(entry.value)) this.#entries.delete(key)
    this.#loading.clear()
  }

  clear(): void {
    this.#entries.clear()
    this.#loading.clear()
  }

  #keep(key: string, value: T, askedAt: number): void {
    const ttlMs = this.#ttlMs(value)
    if (ttlMs <= 0) return
    this.#entries.set(key, { value, expiresAt: askedAt + ttlMs })
    if (this.#entries.size <= this.#entriesMax) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}
