import type { Percentiles } from './figures.ts'
import { credentialsFileOf, runLoad } from './load/load.ts'
import { runStreams } from './load/streams.ts'
import type { Step } from './plan.ts'
import { processFigures, type Share, sharesOf } from './processes.ts'
import { type Scrape, spentBetween } from './prometheus.ts'
import type { Target } from './targets/target.ts'
import { bodyOf, EVENTS_PER_STREAM, paceOf } from './workload.ts'

/** One measurement. What its kind does not show is absent. */
export interface Measurement extends Step {
  requestsPerSecond: number
  failed: number
  latencyMs?: Percentiles
  meanMs?: number
  firstByteMs?: Percentiles
  chunkDelayMs?: Percentiles
  mergedChunks?: number
  chunks?: number
  /** What its own metrics say of the measured seconds. */
  spent?: Scrape
  /** Per process, over the measured seconds; the generator is `load`. */
  processes: Share[]
}

const WARMUP_SECONDS = 1

export interface MeasureOptions {
  seconds: number
  /** For files that the generator reads. */
  folder: string
}

/** So that a target's code is compiled before it is measured: interpreted code takes twice the time. */
export async function warmUp(
  target: Target,
  { connections, seconds, folder }: MeasureOptions & { connections: number },
) {
  const step = { round: 0, kind: 'json', connections, target: target.name } as const
  await runLoad({ ...requestOf(step, target, folder), connections, thinkMs: 0, seconds })
}

/** Warms a target up with the same load, then measures it. */
export async function measure(step: Step, target: Target, options: MeasureOptions): Promise<Measurement> {
  return step.kind === 'paced' ? measurePaced(step, target, options) : measureLoad(step, target, options)
}

async function measureLoad(step: Step, target: Target, { seconds, folder }: MeasureOptions): Promise<Measurement> {
  const load = { ...requestOf(step, target, folder), connections: step.connections, thinkMs: 0 }
  await runLoad({ ...load, seconds: WARMUP_SECONDS })
  const scraped = await target.scrape?.()
  const [before, startedAt] = [processFigures(target.roots), performance.now()]
  const { requestsPerSecond, failed, latencyMs, meanMs, cpuMs } = await runLoad({ ...load, seconds })
  const elapsedMs = performance.now() - startedAt
  const processes = sharesOf(before, processFigures(target.roots), elapsedMs)
  const generator = { label: 'load', cores: cpuMs / elapsedMs, rssBytes: 0 }
  return {
    ...step,
    ...{ requestsPerSecond, failed, latencyMs, meanMs },
    ...(scraped && target.scrape && { spent: spentBetween(scraped, await target.scrape()) }),
    processes: [...processes, generator],
  }
}

async function measurePaced(step: Step, target: Target, { seconds, folder }: MeasureOptions): Promise<Measurement> {
  const { connections } = step
  const [before, startedAt] = [processFigures(target.roots), performance.now()]
  const { streams, ...result } = await runStreams({
    ...requestOf(step, target, folder),
    connections,
    seconds,
    warmupSeconds: WARMUP_SECONDS,
    events: EVENTS_PER_STREAM,
  })
  const processes = sharesOf(before, processFigures(target.roots), performance.now() - startedAt)
  return { ...step, requestsPerSecond: streams / seconds, ...result, processes }
}

function requestOf({ kind, connections }: Step, target: Target, folder: string) {
  return {
    url: `${target.baseUrl}/chat/completions`,
    headers: { 'content-type': 'application/json', ...target.headers },
    body: bodyOf(kind, target.modelFor(paceOf(kind, connections))),
    credentialsFile: credentialsFileOf(target, folder),
  }
}
