import { readFile } from 'node:fs/promises'
import { Glob } from 'bun'

/** A source file, by its path from the root, and what it imports. */
interface Source {
  path: string
  text: string
  imports: readonly string[]
}

/** Longer than this, a file has grown a second idea (STYLE 1). */
const FILE_LINES_MAX = 320

const isTest = (path: string) => path.endsWith('.test.ts')
const floorOf = (path: string) => path.split('/')[0] ?? ''
const roomOf = (path: string) => path.split('/').slice(0, 2).join('/')

/** The one importer of each door to the outside. */
const doors: Readonly<Record<string, string>> = { nats: 'packages/bus', postgres: 'packages/db' }

type Rule = (source: Source) => string[]

/** Services stand on packages; packages never on services; nobody reaches into a neighbour. */
const floors: Rule = ({ path, imports }) =>
  imports.flatMap(name => {
    const floor = floorOf(path)
    if (floor === 'infra' || roomOf(path) === 'packages/testing') return []
    if (leavesRoom(path, name)) return [`${path} imports ${name}: another room's files; import its package`]
    if (floor === 'packages' && isServiceOrInfra(name))
      return [`${path} imports ${name}: packages stand below services`]
    if (floor === 'services' && isServiceOrInfra(name) && !isTestOnly(path)) {
      return [`${path} imports ${name}: services import packages only`]
    }
    if (floor === 'services' && name === '@tollgate/testing' && !isTestOnly(path)) {
      return [`${path} imports ${name}: testing is for tests`]
    }
    return []
  })

const oneImporter: Rule = ({ path, imports }) =>
  imports
    .filter(
      name =>
        doors[name] !== undefined && doors[name] !== roomOf(path) && floorOf(path) !== 'infra' && !isTestOnly(path),
    )
    .map(name => `${path} imports ${name}: only ${doors[name]} does`)

/** Configuration is read in one file a service (STYLE 10); a process hands its environment over and looks no further. */
const environment: Rule = ({ path, text }) => {
  if (floorOf(path) !== 'services' || isTestOnly(path) || path.endsWith('/config.ts')) return []
  const looks = text.replaceAll(/read\w*Config\(process\.env\)/g, '')
  return /process\.env|Bun\.env/.test(looks) ? [`${path} reads the environment: config.ts does`] : []
}

const length: Rule = ({ path, text }) => {
  const lines = text.split('\n').length
  return lines > FILE_LINES_MAX && !isTestOnly(path)
    ? [`${path} has ${lines} lines: give its second idea a room of its own`]
    : []
}

const compositionRoot: Rule = ({ path, text }) =>
  /^services\/[^/]+\/index\.ts$/.test(path) && text.trimEnd().split('\n').length > 60
    ? [`${path} is over 60 lines: it only puts parts together`]
    : []

const rules: readonly Rule[] = [floors, oneImporter, environment, length, compositionRoot]

/** Every broken rule of the working tree, a line each. */
export async function brokenRules(): Promise<string[]> {
  const broken: string[] = []
  for await (const path of new Glob('{packages,services,infra}/**/*.ts').scan('.')) {
    if (path.includes('node_modules')) continue
    const text = await readFile(path, 'utf8')
    broken.push(...check(path, text))
  }
  return [...broken, ...(await lockfile())]
}

export function check(path: string, text: string): string[] {
  const imports = new Bun.Transpiler({ loader: 'ts' }).scanImports(text).map(({ path: name }) => name)
  return rules.flatMap(rule => rule({ path, text, imports }))
}

/** A lockfile that names hosts would tie every clone to them. */
async function lockfile(): Promise<string[]> {
  return /https?:\/\//.test(await readFile('bun.lock', 'utf8')) ? ['bun.lock names a host'] : []
}

function leavesRoom(path: string, name: string): boolean {
  if (!name.startsWith('.')) return false
  const target = new URL(name, `file:///${path}`).pathname.slice(1)
  return roomOf(target) !== roomOf(path)
}

const serviceNames = ['router', 'auth', 'keys', 'billing', 'metering-proxy', 'ledger', 'chain-watcher']
const infraNames = ['local', 'chain', 'upstream', 'e2e', 'bench', 'check', 'process', 'nats', 'postgres']
const aboveNames = new Set([...serviceNames, ...infraNames].map(name => `@tollgate/${name}`))

function isServiceOrInfra(name: string): boolean {
  return aboveNames.has(name.split('/').slice(0, 2).join('/')) && name !== '@tollgate/testing'
}

/** Tests, and what only tests and commands use. */
function isTestOnly(path: string): boolean {
  return (
    isTest(path) ||
    roomOf(path) === 'packages/testing' ||
    /\/(test|testing|bench|examples)\//.test(path) ||
    /\.(test-helpers|bench|soak|fuzz|fault)\.ts$/.test(path)
  )
}
