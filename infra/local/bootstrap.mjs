// `npm start` and `npm test` on a machine that has only Node or Bun: obtains the pinned Bun, installs the dependencies
// from the lockfile, and hands over to TypeScript. Plain JavaScript, since nothing is installed when it runs.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const BUN_VERSION = '1.4.5'
const PROGRESS_EVERY_MS = 5_000

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const tools = join(root, '.tools')
const entries = {
  start: 'infra/local/main.ts',
  test: 'packages/testing/run.ts',
  key: 'infra/e2e/key.ts',
}

const [command = '', ...args] = process.argv.slice(2)
if (!(command in entries)) fail(`usage: bootstrap.mjs ${Object.keys(entries).join('|')} [arguments]`)
ensureHome()
const bun = findBun() ?? (await obtainBun())
linkBun(bun)
await installDependencies(bun)
handOver(bun, entries[command], args)

/** Package managers keep caches in HOME, which may be unset or closed to us. */
function ensureHome() {
  const home = process.env.HOME
  if (home && isWritable(home)) return
  process.env.HOME = join(tools, 'home')
  mkdirSync(process.env.HOME, { recursive: true })
}

function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

function findBun() {
  const running = process.versions.bun === BUN_VERSION ? [process.execPath] : []
  const onPath = (process.env.PATH ?? '').split(':').map(folder => join(folder, 'bun'))
  return [...running, join(tools, 'bun'), ...onPath].find(isPinnedBun)
}

function isPinnedBun(file) {
  if (!existsSync(file)) return false
  const answer = spawnSync(file, ['--version'], { encoding: 'utf8' })
  return answer.status === 0 && answer.stdout.trim() === BUN_VERSION
}

/** The binary of the npm package's platform part is run itself: install scripts, which would link it, may be switched off. */
async function obtainBun() {
  const folder = join(tools, `bun-${BUN_VERSION}`)
  const found = () => platformBinaries(folder).find(isPinnedBun)
  if (found()) return found()
  mkdirSync(folder, { recursive: true })
  await run(`Downloading Bun ${BUN_VERSION} (40 MB)`, ...packageManager(folder, `bun@${BUN_VERSION}`))
  return (
    found() ??
    fail(`The npm package bun@${BUN_VERSION} has no program that runs on ${process.platform} ${process.arch}.`)
  )
}

function platformBinaries(folder) {
  const scope = join(folder, 'node_modules', '@oven')
  return existsSync(scope) ? readdirSync(scope).map(name => join(scope, name, 'bin', 'bun')) : []
}

/** npm, else the Bun of another version that runs us. */
function packageManager(folder, spec) {
  if (process.versions.bun) {
    writeFileSync(join(folder, 'package.json'), '{}')
    return [process.execPath, ['add', '--cwd', folder, '--ignore-scripts', '--no-save', spec]]
  }
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const install = ['install', '--prefix', folder, ...flags, spec]
  const npm = process.env.npm_execpath
  return npm?.endsWith('npm-cli.js') ? [process.execPath, [npm, ...install]] : ['npm', install]
}

/** One stable path for scripts and people, whichever Bun it is. */
function linkBun(bun) {
  const link = join(tools, 'bun')
  if (bun === link) return
  try {
    mkdirSync(tools, { recursive: true })
    rmSync(link, { force: true })
    symlinkSync(bun.startsWith(root) ? relative(tools, bun) : bun, link)
  } catch (error) {
    fail(`Can't write ${tools}: ${error.message}`)
  }
}

async function installDependencies(bun) {
  const stamp = join(root, 'node_modules', '.tollgate-installed')
  const wanted = lockfileHash()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  await run('Installing dependencies', bun, ['install', '--frozen-lockfile'])
  writeFileSync(stamp, wanted)
}

function lockfileHash() {
  const hash = createHash('sha256')
  for (const file of ['bun.lock', 'package.json', 'bunfig.toml']) hash.update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

/** Runs a slow step; says that it goes on, and shows what it printed only when it fails. */
async function run(what, file, args) {
  const started = Date.now()
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(0)} s`
  say(`${what} ...`)
  const ticker = setInterval(() => say(`  ... ${seconds()}`), PROGRESS_EVERY_MS)
  const { status, output } = await finished(spawn(file, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }))
  clearInterval(ticker)
  if (status !== 0) fail(`${what} failed:\n${output.trim()}`)
  say(`  done in ${seconds()}`)
}

function finished(child) {
  let output = ''
  child.stdout.on('data', text => {
    output += text
  })
  child.stderr.on('data', text => {
    output += text
  })
  return new Promise(resolve => {
    child.on('error', error => resolve({ status: 1, output: error.message }))
    child.on('close', status => resolve({ status, output }))
  })
}

/**
 * The rest is TypeScript. It ends when its standard input closes, so it ends with us, however we end. Ctrl-C reaches it
 * from the terminal; a signal sent to us alone is passed on. Its exit code is ours.
 */
function handOver(bun, entry, args) {
  const child = spawn(bun, [join(root, entry), ...args], {
    cwd: root,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...process.env, PATH: `${tools}:${process.env.PATH ?? ''}`, SUPERVISED: '1' },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  endWithPackageManager(child)
  child.on('error', error => fail(`Can't run ${bun}: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code))
}

/** npm is our parent when it runs us; killed outright, it can't pass anything on. */
function endWithPackageManager(child) {
  if (!process.env.npm_lifecycle_event) return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGTERM')
  }, 1_000).unref()
}

/** Not on standard output: that belongs to the command (`npm run --silent key`). */
function say(line) {
  console.error(line)
}

function fail(message) {
  say(message)
  process.exit(1)
}
