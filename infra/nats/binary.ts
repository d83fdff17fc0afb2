import { join } from 'node:path'
import { unpackDebianPackage } from './debian.ts'
import { downloadRelease } from './release.ts'

/** Debian puts it where a normal user's PATH does not lead. */
const systemFolders = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin']

/** The nats-server to run: of the PATH, of the system, or the one obtained into `.tools`. */
export function findNatsServer(toolsDir: string): string | undefined {
  const folders = [process.env.PATH ?? '', ...systemFolders, obtainedFolder(toolsDir)]
  return Bun.which('nats-server', { PATH: folders.join(':') }) ?? undefined
}

/** Finds nats-server or obtains it, without root; throws a message that names every way when none worked. */
export async function obtainNatsServer(toolsDir: string, say: (line: string) => void): Promise<string> {
  const found = findNatsServer(toolsDir)
  if (found) return found
  const folder = obtainedFolder(toolsDir)
  const problems: string[] = []
  for (const [way, obtain] of ways) {
    say(`Obtaining nats-server: ${way} ...`)
    try {
      await obtain(folder)
      return join(folder, 'nats-server')
    } catch (error) {
      problems.push(`  ${way}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new Error(`There is no nats-server on this machine, and none could be obtained:
${problems.join('\n')}
Install it (Debian: apt install nats-server; macOS: brew install nats-server; or the release from
https://github.com/nats-io/nats-server/releases) so that it is on the PATH, or set NATS_URL to a server that runs.`)
}

const ways: [string, (folder: string) => Promise<void>][] = [
  ['Debian package', unpackDebianPackage],
  ['official release', folder => downloadRelease({ folder })],
]

function obtainedFolder(toolsDir: string): string {
  return join(toolsDir, 'nats-server')
}
