import type { Verdict } from '../goals.ts'
import { type Kind, targetTitles } from '../plan.ts'
import { finder, type Row } from '../summary.ts'
import { figure, type Table } from './table.ts'

const titles: Readonly<Record<Exclude<Kind, 'paced'>, string>> = {
  json: 'Whole bodies (JSON), as many as it can',
  sse: 'Streams (SSE) whose pieces come at once, as many as it can',
}
const US_PER_S = 1_000_000
const MIB = 1024 * 1024

export function loadTable(kind: 'json' | 'sse', rows: readonly Row[]): Table {
  const find = finder(rows)
  return {
    title: titles[kind],
    columns: ['connections', 'target', 'requests/s', 'p50 ms', 'p90 ms', 'p99 ms', '× proxy', '× Portkey', 'failed'],
    words: 2,
    rows: rows
      .filter(row => row.kind === kind)
      .map(row => {
        const against = (target: 'proxy' | 'portkey') => {
          const reference = find(kind, row.connections, target)
          return figure(reference && row.requestsPerSecond / reference.requestsPerSecond)
        }
        return [
          String(row.connections),
          targetTitles[row.target],
          figure(row.requestsPerSecond),
          figure(row.latencyMs?.p50),
          figure(row.latencyMs?.p90),
          figure(row.latencyMs?.p99),
          against('proxy'),
          against('portkey'),
          String(row.failed),
        ]
      }),
  }
}

export function pacedTable(rows: readonly Row[]): Table {
  return {
    title:
      "Streams at a model's pace: first byte, and the delay of each piece from the upstream's write to the client's read",
    columns: [
      ...['connections', 'target', 'first byte p50 ms', 'p90 ms', 'p99 ms'],
      ...['piece p50 ms', 'p90 ms', 'p99 ms', 'pieces', 'not alone', 'failed'],
    ],
    words: 2,
    rows: rows
      .filter(row => row.kind === 'paced')
      .map(row => [
        String(row.connections),
        targetTitles[row.target],
        figure(row.firstByteMs?.p50),
        figure(row.firstByteMs?.p90),
        figure(row.firstByteMs?.p99),
        figure(row.chunkDelayMs?.p50),
        figure(row.chunkDelayMs?.p90),
        figure(row.chunkDelayMs?.p99),
        String(row.chunks),
        String(row.mergedChunks),
        String(row.failed),
      ]),
  }
}

/** Who uses the machine while whole bodies are asked for at the middle load. */
export function processTable(rows: readonly Row[]): Table | undefined {
  const counts = [...new Set(rows.filter(row => row.kind === 'json').map(row => row.connections))]
  const connections = counts.includes(64) ? 64 : counts.at(-1)
  const shown = rows.filter(row => row.kind === 'json' && row.connections === connections)
  if (shown.length === 0) return undefined
  return {
    title: `Processes, whole bodies at ${connections} connections (load: the generator)`,
    columns: ['target', 'process', 'cores', 'CPU µs/request', 'RSS MiB'],
    words: 2,
    rows: shown.flatMap(row =>
      row.processes
        .filter(({ label }) => label !== 'chain' && label !== 'local')
        .map(({ label, cores, rssBytes }) => [
          targetTitles[row.target],
          label,
          figure(cores),
          figure((cores * US_PER_S) / row.requestsPerSecond),
          rssBytes > 0 ? figure(rssBytes / MIB) : '–',
        ]),
    ),
  }
}

export function verdictTable(verdicts: readonly Verdict[]): Table {
  const bound = ({ better, unit }: Verdict, value: number | undefined) =>
    value === undefined ? '' : `${better === 'higher' ? '≥' : '≤'} ${value}${unit === '' ? '' : ` ${unit}`}`
  return {
    title: 'Goals',
    columns: ['goal', 'floor', 'stretch', 'reached', 'measured'],
    words: 4,
    rows: verdicts.map(verdict => [
      verdict.name,
      bound(verdict, verdict.floor),
      bound(verdict, verdict.stretch),
      verdict.reached,
      `${figure(verdict.value)}${verdict.value === null || verdict.unit === '' ? '' : ` ${verdict.unit}`}`,
    ]),
  }
}
