import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Percentiles } from '../figures.ts'
import type { Target } from '../targets/target.ts'
import { runAutocannon } from './autocannon.ts'
import { runWrk } from './wrk.ts'

/** What a load generator is asked to do. */
export interface Load {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  /** Bearer credentials, one a line, taken in turn. */
  credentialsFile: string
  connections: number
  seconds: number
  /** Each connection waits that long after an answer; 0 loads as much as it can. */
  thinkMs: number
}

/** What came of it. */
export interface LoadResult {
  requestsPerSecond: number
  requests: number
  /** Answers that were not 2xx, or none at all. */
  failed: number
  latencyMs: Percentiles
  meanMs: number
  /** Of the generator itself. */
  cpuMs: number
}

/**
 * wrk where it is installed: a request costs it 9 µs of the machine, where autocannon (from npm), the other choice, takes 20 to 40.
 */
export const generator = Bun.which('wrk') ? 'wrk' : 'autocannon'

export function runLoad(load: Load): Promise<LoadResult> {
  return generator === 'wrk' ? runWrk(load) : runAutocannon(load)
}

/** Writes a target's credentials where both generators read them. */
export function credentialsFileOf({ name, credentials }: Target, folder: string): string {
  const file = join(folder, `${name}.credentials`)
  writeFileSync(file, `${credentials.join('\n')}\n`, { mode: 0o600 })
  return file
}
