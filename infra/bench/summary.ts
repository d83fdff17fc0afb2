import { median, medianPercentiles, type Percentiles } from './figures.ts'
import type { Measurement } from './measure.ts'
import type { Kind, TargetName } from './plan.ts'
import type { Share } from './processes.ts'

/** What all rounds together say of one target under one load: medians, and sums of what must not happen. */
export interface Row {
  kind: Kind
  connections: number
  target: TargetName
  requestsPerSecond: number
  failed: number
  latencyMs?: Percentiles
  firstByteMs?: Percentiles
  chunkDelayMs?: Percentiles
  chunks?: number
  mergedChunks?: number
  processes: Share[]
}

export function summarise(measurements: readonly Measurement[]): Row[] {
  const groups = Map.groupBy(measurements, ({ kind, connections, target }) => `${kind} ${connections} ${target}`)
  return [...groups.values()].flatMap(rounds => rowOf(rounds) ?? [])
}

function rowOf(rounds: readonly Measurement[]): Row | undefined {
  const [first] = rounds
  if (!first) return undefined
  const { kind, connections, target } = first
  const percentiles = (pick: (round: Measurement) => Percentiles | undefined) =>
    medianPercentiles(rounds.flatMap(round => pick(round) ?? []))
  const sum = (pick: (round: Measurement) => number | undefined) =>
    rounds.reduce((total, round) => total + (pick(round) ?? 0), 0)
  return {
    kind,
    connections,
    target,
    requestsPerSecond: median(rounds.map(round => round.requestsPerSecond)),
    failed: sum(round => round.failed),
    ...(first.latencyMs && { latencyMs: percentiles(round => round.latencyMs) }),
    ...(first.firstByteMs && { firstByteMs: percentiles(round => round.firstByteMs) }),
    ...(first.chunkDelayMs && { chunkDelayMs: percentiles(round => round.chunkDelayMs) }),
    ...(first.chunks !== undefined && {
      chunks: sum(round => round.chunks),
      mergedChunks: sum(round => round.mergedChunks),
    }),
    processes: medianShares(rounds.map(round => round.processes)),
  }
}

function medianShares(rounds: readonly (readonly Share[])[]): Share[] {
  const byLabel = Map.groupBy(rounds.flat(), share => share.label)
  return [...byLabel].map(([label, shares]) => ({
    label,
    cores: median(shares.map(({ cores }) => cores)),
    rssBytes: median(shares.map(({ rssBytes }) => rssBytes)),
  }))
}

export type Find = (kind: Kind, connections: number, target: TargetName) => Row | undefined

export function finder(rows: readonly Row[]): Find {
  return (kind, connections, target) =>
    rows.find(row => row.kind === kind && row.connections === connections && row.target === target)
}
