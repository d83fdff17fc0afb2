import type { TargetName } from '../plan.ts'
import type { Scrape } from '../prometheus.ts'

/** How the answer to a request comes: see `infra/upstream`. */
export interface Pace {
  tokens: number
  intervalMs: number
}

/** Something that answers chat completions, running. */
export interface Target {
  name: TargetName
  /** Ends in `/v1`. */
  baseUrl: string
  headers: Readonly<Record<string, string>>
  /** Bearer credentials; requests take them in turn. */
  credentials: readonly string[]
  /** The model to name for an answer of this pace. */
  modelFor(pace: Pace): string
  /** Its processes, besides those below them. */
  roots: readonly number[]
  /** What its own metrics say now, where it has some. */
  scrape?(): Promise<Scrape>
}

/** A started part of the comparison. */
export interface Started {
  targets: readonly Target[]
  stop(): Promise<unknown>
}

/** Where nobody looks at the credential. */
export const ANY_CREDENTIAL = 'sk-simulated'

/** The simulated upstream reads the pace from the model's name; the stamp serves the client that measures delays. */
export function simulatedModel({ tokens, intervalMs }: Pace): string {
  return `simulated?tokens=${tokens}&intervalMs=${intervalMs}${intervalMs > 0 ? '&stamp=1' : ''}`
}
