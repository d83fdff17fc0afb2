import { join } from 'node:path'
import type { Load, LoadResult } from './load.ts'

/** What `wrk.lua` prints when it is done; times in µs. */
interface WrkReport {
  requests: number
  durationUs: number
  failed: number
  mean: number
  p50: number
  p90: number
  p99: number
}

/** A slow answer is one to measure, not to give up on. */
const TIMEOUT = '30s'
const US_PER_MS = 1_000
const US_PER_S = 1_000_000
const MARK = 'report '

/** One thread: the other core is for what is measured. */
export async function runWrk(load: Load): Promise<LoadResult> {
  const wrk = Bun.spawn(
    [
      'wrk',
      ...['--threads', '1', '--connections', String(load.connections), '--duration', `${load.seconds}s`],
      ...['--timeout', TIMEOUT, '--script', join(import.meta.dir, 'wrk.lua'), load.url],
    ],
    {
      env: {
        ...process.env,
        LOAD_BODY: load.body,
        LOAD_HEADERS: headerLines(load.headers),
        LOAD_CREDENTIALS: load.credentialsFile,
        LOAD_THINK_MS: String(load.thinkMs),
      },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const [out, err] = await Promise.all([wrk.stdout.text(), wrk.stderr.text()])
  await wrk.exited
  return { ...readWrkReport(out + err), cpuMs: Number(wrk.resourceUsage()?.cpuTime.total ?? 0) / US_PER_MS }
}

/** Reads the line that `wrk.lua` adds to wrk's own report. */
export function readWrkReport(output: string): Omit<LoadResult, 'cpuMs'> {
  const line = output.split('\n').find(line => line.startsWith(MARK))
  if (line === undefined) throw new Error(`wrk reported nothing:\n${output}`)
  const report: WrkReport = JSON.parse(line.slice(MARK.length)) // our own script wrote it
  return {
    requests: report.requests,
    requestsPerSecond: report.requests / (report.durationUs / US_PER_S),
    failed: report.failed,
    meanMs: report.mean / US_PER_MS,
    latencyMs: { p50: report.p50 / US_PER_MS, p90: report.p90 / US_PER_MS, p99: report.p99 / US_PER_MS },
  }
}

function headerLines(headers: Load['headers']): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}
