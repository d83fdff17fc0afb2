import type { Table } from '../report/table.ts'
import type { StartedUpstream } from '../targets/peers.ts'
import type { Size } from '../targets/seed.ts'

export interface ScaleOptions {
  upstream: StartedUpstream
  /** For files that the generator reads. */
  folder: string
  seconds: number
  rounds: number
  sizes: readonly Size[]
  say(line: string): void
}

export interface Scaling {
  table: Table
  /** The audit after each step was clean, and no request failed. */
  isClean: boolean
}
