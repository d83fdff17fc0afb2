import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { command } from './command.ts'

/** Puts `nats-server` of the machine's Debian or Ubuntu release into the folder. Needs no root: nothing is installed. */
export async function unpackDebianPackage(folder: string): Promise<void> {
  if (!Bun.which('apt-get') || !Bun.which('dpkg-deb')) throw new Error('this is not Debian or Ubuntu')
  const work = mkdtempSync(join(tmpdir(), 'tollgate-apt-'))
  try {
    await download(work)
    const archive = readdirSync(work).find(name => name.endsWith('.deb'))
    if (!archive) throw new Error('apt-get downloaded nothing')
    await command(['dpkg-deb', '-x', join(work, archive), join(work, 'files')], work)
    mkdirSync(folder, { recursive: true })
    cpSync(join(work, 'files', 'usr', 'sbin', 'nats-server'), join(folder, 'nats-server'))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The machine's package lists may be absent or out of date; then lists of our own are fetched beside them. */
async function download(work: string): Promise<void> {
  const lists = join(work, 'lists')
  const own = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${join(work, 'cache')}`]
  try {
    await command(['apt-get', 'download', 'nats-server'], work)
  } catch {
    mkdirSync(join(lists, 'partial'), { recursive: true })
    mkdirSync(join(work, 'cache', 'archives', 'partial'), { recursive: true })
    await command(['apt-get', ...own, 'update'], work)
    await command(['apt-get', ...own, 'download', 'nats-server'], work)
  }
}
