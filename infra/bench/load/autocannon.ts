import { join } from 'node:path'
import type { Load, LoadResult } from './load.ts'

const US_PER_MS = 1_000

/** Runs autocannon in a process of its own, so that what reads its answers is not what measures. */
export async function runAutocannon(load: Load): Promise<LoadResult> {
  const worker = Bun.spawn([process.execPath, join(import.meta.dir, 'autocannon-process.ts'), JSON.stringify(load)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const out = await worker.stdout.text()
  if ((await worker.exited) !== 0) throw new Error(`autocannon failed:\n${out}`)
  const result: Omit<LoadResult, 'cpuMs'> = JSON.parse(out) // our own process wrote it
  return { ...result, cpuMs: Number(worker.resourceUsage()?.cpuTime.total ?? 0) / US_PER_MS }
}
