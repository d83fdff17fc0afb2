import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { homeOf } from '@tollgate/postgres'

/** `LOCAL_DIR`: everything that a stack keeps. */
export interface Folder {
  path: string
  gatewayJson: string
  processesJson: string
  portsJson: string
  modelsJson: string
  pidFile: string
  lockFile: string
  nats: string
  chain: string
  logs: string
  log(process: string): string
}

/** Each made once, and kept with the state that they protect. */
export interface Secrets {
  postgres: string
  roles: string
  nats: string
  identity: string
}

export function folderOf(localDir: string): Folder {
  const path = resolve(localDir)
  const inside = (name: string) => join(path, name)
  return {
    path,
    gatewayJson: inside('gateway.json'),
    processesJson: inside('processes.json'),
    portsJson: inside('ports.json'),
    modelsJson: inside('models.json'),
    pidFile: inside('stack.pid'),
    lockFile: inside('stack.lock'),
    nats: inside('nats'),
    chain: inside('chain'),
    logs: inside('logs'),
    log: process => join(path, 'logs', `${process}.log`),
  }
}

/** `--fresh`. Only what a stack writes goes, and only where one has written: LOCAL_DIR may name a folder that holds other things. */
export function wipe(folder: Folder): void {
  if (!existsSync(secretsFile(folder))) return
  const { processesJson, portsJson, modelsJson, nats, chain, logs } = folder
  const files = [folder.gatewayJson, processesJson, portsJson, modelsJson]
  for (const path of [...files, nats, chain, logs, homeOf(folder.path).folder, secretsFile(folder)]) {
    rmSync(path, { recursive: true, force: true })
  }
}

/** The secrets, made where there are none yet. */
export function openFolder(folder: Folder): Secrets {
  mkdirSync(folder.path, { recursive: true, mode: 0o700 })
  mkdirSync(folder.logs, { recursive: true })
  const known = readWhole<Secrets>(secretsFile(folder))
  if (known) return known
  dropUnreadable(folder)
  const secrets: Secrets = { postgres: secret(), roles: secret(), nats: secret(), identity: secret() }
  writeWhole(secretsFile(folder), secrets)
  return secrets
}

/** Whoever removes LOCAL_DIR starts afresh, also as root, where Postgres keeps its data elsewhere. */
function dropUnreadable(folder: Folder): void {
  const home = homeOf(folder.path)
  if (home.account) rmSync(home.folder, { recursive: true, force: true })
  else if (existsSync(home.folder)) {
    throw new Error(`${home.folder} has a database whose password went with ${secretsFile(folder)}: remove the folder.`)
  }
}

/** A reader sees the old file or the new one, and nobody else reads it: most of these hold a password. */
export function writeWhole(file: string, content: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** The content of a file that we wrote, or undefined when it is not there or broken. */
export function readWhole<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function secretsFile(folder: Folder): string {
  return join(folder.path, 'secrets.json')
}

function secret(): string {
  return randomBytes(32).toString('hex')
}
