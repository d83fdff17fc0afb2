import { cpus } from 'node:os'
import { generator } from './load/load.ts'

/** What figures depend on besides the code. */
export interface Machine {
  cores: number
  model: string
  bun: string
  generator: string
  date: string
}

export function describeMachine(now: Date): Machine {
  const [first] = cpus()
  return {
    cores: cpus().length,
    model: first?.model ?? 'unknown',
    bun: Bun.version,
    generator,
    date: now.toISOString().slice(0, 10),
  }
}
