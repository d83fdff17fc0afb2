/**
 * The calls of one caller that this router let through, by their times in ms: its own view of a sliding window. Other
 * routers' calls are not in it, so it never says "full" wrongly, and what it says is left may be less in truth.
 */
export class Window {
  #times: number[] = []
  #first = 0

  add(at: number): void {
    this.#times.push(at)
  }

  /** Calls within the window that ends now. */
  count(nowMs: number, windowMs: number): number {
    const start = nowMs - windowMs
    while (this.#first < this.#times.length && (this.#times[this.#first] ?? 0) <= start) this.#first++
    if (this.#first > 64 && this.#first * 2 > this.#times.length) {
      this.#times = this.#times.slice(this.#first)
      this.#first = 0
    }
    return this.#times.length - this.#first
  }

  /** Until the oldest call leaves the window; 0 when there is none. Ask after `count`. */
  untilFirstLeaves(nowMs: number, windowMs: number): number {
    return untilLeaves(this.#times[this.#first], nowMs, windowMs)
  }

  /** Until the window is empty again. Ask after `count`. */
  untilEmpty(nowMs: number, windowMs: number): number {
    return untilLeaves(this.#times.at(-1), nowMs, windowMs)
  }
}

function untilLeaves(at: number | undefined, nowMs: number, windowMs: number): number {
  return at === undefined ? 0 : Math.max(0, at + windowMs - nowMs)
}
