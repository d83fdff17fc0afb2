/** The slot a chain starts with; not 0, so that "31 slots ago" exists from the first block on. */
const FIRST_SLOT = 1_000
/** Real chains skip slots, so a height is smaller than its slot: a client that mixes them up should fail here too. */
const HEIGHT_BEHIND_SLOT = 900
export const SLOTS_PER_EPOCH = 432_000

export type ClockState = { slot: number; timeMs: number; offsetMs: number }

/**
 * Turns real time into slots: a slot lasts `slotMs` and none is missed, however long the process was busy or stopped.
 * With `slotMs` 0 slots only pass by `advance`. Times are milliseconds since 1970.
 */
export class SlotClock {
  readonly slotMs: number
  readonly #now: () => number
  #baseSlot: number
  #baseMs: number
  #offsetMs: number

  constructor(options: { slotMs: number; now?: () => number; resume?: ClockState }) {
    this.slotMs = options.slotMs
    this.#now = options.now ?? Date.now
    this.#baseSlot = options.resume?.slot ?? FIRST_SLOT
    this.#baseMs = options.resume?.timeMs ?? this.#now()
    this.#offsetMs = options.resume?.offsetMs ?? 0
  }

  slot(): number {
    if (this.slotMs === 0) return this.#baseSlot
    // A wall clock that was set back must not take slots back.
    const elapsedMs = Math.max(0, this.#now() - this.#baseMs)
    return this.#baseSlot + Math.floor(elapsedMs / this.slotMs)
  }

  /** Unix seconds of the current block: the real time plus what tests added. */
  timeSec(): number {
    return Math.floor((this.#now() + this.#offsetMs) / 1000)
  }

  /** Unix seconds of a slot that is past; an estimate, as on a real node. */
  timeSecOf(slot: number): number {
    return Math.floor((this.#now() + this.#offsetMs - (this.slot() - slot) * this.slotMs) / 1000)
  }

  advance(slots: number): void {
    this.#baseSlot += slots
  }

  /** Moves block times (not slots) forward or back. */
  shiftTime(ms: number): void {
    this.#offsetMs += ms
  }

  /** What a restart resumes from: the current slot and when it began, so that no slot is shown twice. */
  state(): ClockState {
    const slot = this.slot()
    return { slot, timeMs: this.#baseMs + (slot - this.#baseSlot) * this.slotMs, offsetMs: this.#offsetMs }
  }
}

export function blockHeight(slot: number): number {
  return slot - HEIGHT_BEHIND_SLOT
}

export function epochOf(slot: number): number {
  return Math.floor(slot / SLOTS_PER_EPOCH)
}
