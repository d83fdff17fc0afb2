import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Table } from './report/table.ts'

/** A CPU profile in V8's format, as `bun --cpu-prof` writes it. */
interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number }; children?: number[] }[]
  samples: number[]
}
type Node = Profile['nodes'][number]

const FUNCTIONS_SHOWN = 15

/** The busiest functions of each service, from the profiles in a folder: by own time, and by time with what they call. */
export function profileTables(folder: string): Table[] {
  const files = readdirSync(folder).filter(name => name.endsWith('.cpuprofile'))
  return files.flatMap(file => {
    const profile: Profile = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    const service = serviceOf(profile)
    return service ? [tableOf(service, profile)] : []
  })
}

function tableOf(service: string, { nodes, samples }: Profile): Table {
  const byId = new Map(nodes.map(node => [node.id, node]))
  const parents = new Map(nodes.flatMap(node => (node.children ?? []).map(child => [child, node] as const)))
  const own = new Map<string, number>()
  const all = new Map<string, number>()
  for (const id of samples) {
    const names = stackOf(byId.get(id), parents).map(nameOf)
    const [top] = names
    if (top !== undefined) own.set(top, (own.get(top) ?? 0) + 1)
    for (const name of new Set(names)) all.set(name, (all.get(name) ?? 0) + 1)
  }
  const share = (count: number | undefined) => `${(((count ?? 0) / samples.length) * 100).toFixed(1)} %`
  const busiest = [...all.keys()].toSorted((a, b) => (own.get(b) ?? 0) - (own.get(a) ?? 0)).slice(0, FUNCTIONS_SHOWN)
  const rootsFirst = [...all].toSorted(([, a], [, b]) => b - a).map(([name]) => name)
  const shown = [...new Set([...busiest, ...rootsFirst.filter(isOurs).slice(0, FUNCTIONS_SHOWN)])]
  return {
    title: `Where ${service} spends its CPU time (${samples.length} samples)`,
    columns: ['function', 'own', 'with what it calls'],
    words: 1,
    rows: shown.map(name => [name, share(own.get(name)), share(all.get(name))]),
  }
}

function stackOf(node: Node | undefined, parents: ReadonlyMap<number, Node>): Node[] {
  const stack: Node[] = []
  for (let at = node; at !== undefined; at = parents.get(at.id)) stack.push(at)
  return stack
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: Node): string {
  const file = /(?:services|packages|node_modules)\/.*$/.exec(url)?.[0]
  return `${functionName || '(anonymous)'}${file ? ` ${file}:${lineNumber + 1}` : ''}`
}

const isOurs = (name: string) => / (services|packages)\//.test(name)

function serviceOf({ nodes }: Profile): string | undefined {
  for (const { callFrame } of nodes) {
    const name = /services\/([\w-]+)\/index\.ts/.exec(callFrame.url)?.[1]
    if (name) return name
  }
  return undefined
}
