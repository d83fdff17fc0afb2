import { readdirSync, readFileSync } from 'node:fs'

/** One process at one moment, from Linux's /proc. */
export interface ProcessFigures {
  pid: number
  label: string
  cpuMs: number
  /** Its own memory, and what it may share with others of its kind (files, Postgres's buffers). */
  ownBytes: number
  sharedBytes: number
}

/** What a group of processes with the same label took between two moments. */
export interface Share {
  label: string
  /** Cores kept busy: 1 is one core all the time. */
  cores: number
  rssBytes: number
}

const TICK_MS = 10
const KIB = 1024

/** By command line; the first that matches. What matches none (shells, guardians) does no work worth a row. */
const labels: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/services\/([\w-]+)\/index\.ts/, match => match[1] ?? ''],
  [/infra\/bench\/targets\/bare-proxy\.ts/, () => 'proxy'],
  [/infra\/(upstream|chain|local)\/main\.ts/, match => match[1] ?? ''],
  [/@portkey-ai\/gateway/, () => 'portkey'],
  [/^\S*nats-server /, () => 'nats'],
  [/^\S*postgres[: ]/, () => 'postgres'],
]

/** The figures of these processes and of all below them; none where there is no /proc. */
export function processFigures(roots: readonly number[]): ProcessFigures[] {
  const parents = readParents()
  const isMeant = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 0; at = parents.get(at)) {
      if (roots.includes(at)) return true
    }
    return false
  }
  return [...parents.keys()].filter(isMeant).flatMap(pid => figuresOf(pid) ?? [])
}

/** What happened between two moments `elapsedMs` apart, by label, busiest first. */
export function sharesOf(
  before: readonly ProcessFigures[],
  after: readonly ProcessFigures[],
  elapsedMs: number,
): Share[] {
  const cpuBefore = new Map(before.map(({ pid, cpuMs }) => [pid, cpuMs]))
  const byLabel = Map.groupBy(after, ({ label }) => label)
  const shares = [...byLabel].map(([label, processes]) => {
    const cpuMs = processes.reduce((sum, { pid, cpuMs }) => sum + cpuMs - (cpuBefore.get(pid) ?? 0), 0)
    return { label, cores: cpuMs / elapsedMs, rssBytes: memoryOf(processes) }
  })
  return shares.toSorted((a, b) => b.cores - a.cores)
}

/** Resident memory of a group: what they share counts once. */
export function memoryOf(processes: readonly ProcessFigures[]): number {
  const own = processes.reduce((sum, { ownBytes }) => sum + ownBytes, 0)
  return own + Math.max(0, ...processes.map(({ sharedBytes }) => sharedBytes))
}

export function labelOf(commandLine: string): string | undefined {
  for (const [pattern, name] of labels) {
    const match = pattern.exec(commandLine)
    if (match) return name(match)
  }
  return undefined
}

function readParents(): Map<number, number> {
  const parents = new Map<number, number>()
  for (const name of listProcesses()) {
    const stat = statOf(Number(name))
    if (stat) parents.set(Number(name), Number(stat[1]))
  }
  return parents
}

function listProcesses(): string[] {
  try {
    return readdirSync('/proc').filter(name => /^\d+$/.test(name))
  } catch {
    return []
  }
}

function figuresOf(pid: number): ProcessFigures | undefined {
  const label = labelOf(read(pid, 'cmdline').replaceAll('\0', ' '))
  const stat = statOf(pid)
  const status = read(pid, 'status')
  if (label === undefined || !stat || status === '') return undefined
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * KIB
  return {
    pid,
    label,
    cpuMs: (Number(stat[11]) + Number(stat[12])) * TICK_MS,
    ownBytes: kib('RssAnon'),
    sharedBytes: kib('RssFile') + kib('RssShmem'),
  }
}

/** The fields after the name in /proc/<pid>/stat, whose name may hold spaces and brackets: state, parent, … (proc(5)). */
function statOf(pid: number): string[] | undefined {
  const text = read(pid, 'stat')
  return text === '' ? undefined : text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/** Empty where the process has ended meanwhile. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
