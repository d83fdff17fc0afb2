import { createHash } from 'node:crypto'
import { chownSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Account } from '@tollgate/process'

/** Where a cluster lives and who runs it. */
export interface Home {
  folder: string
  /** Set when we are root, as which Postgres refuses to run. */
  account: Account | undefined
}

const ROOT_FOLDER = '/var/lib/tollgate'

/** `.local/postgres`; as root a folder of an unprivileged user, which can't enter a clone that only root may enter. */
export function homeOf(localDir: string): Home {
  const account = unprivilegedAccount()
  if (!account) return { folder: join(localDir, 'postgres'), account }
  const hash = createHash('sha256').update(resolve(localDir)).digest('hex').slice(0, 16)
  return { folder: join(ROOT_FOLDER, hash), account }
}

/** The parent of throw-away data, which their account owns, so that it may remove them; and one copy of the binaries for all. */
export function testHome(): Home {
  const account = unprivilegedAccount()
  const home: Home = { folder: account ? join(ROOT_FOLDER, 'test') : tmpdir(), account }
  createHome(home)
  return home
}

export function createHome({ folder, account }: Home): void {
  mkdirSync(folder, { recursive: true })
  if (account) chownSync(folder, account.uid, account.gid)
}

/** `nobody`, which exists on every Linux and macOS. */
export function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  return { uid: idOfNobody('-u'), gid: idOfNobody('-g') }
}

function idOfNobody(flag: '-u' | '-g'): number {
  const { stdout, success } = Bun.spawnSync(['id', flag, 'nobody'])
  const id = Number(stdout.toString().trim())
  if (!success || !Number.isInteger(id))
    throw new Error('Postgres refuses to run as root, and there is no user "nobody"')
  // macOS prints -2; the system call takes the same bits unsigned.
  return id >>> 0
}
