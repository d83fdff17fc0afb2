import { Database } from 'bun:sqlite'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Folder } from './folder.ts'

/** Open as long as this process lives. */
let lock: Database | undefined

/**
 * Makes this process the only stack of the folder; throws a message for the user when another one runs there. SQLite's file
 * lock is the system's own: it goes with the process, however that ends, so none is ever left behind.
 */
export function claim(folder: Folder): void {
  mkdirSync(folder.path, { recursive: true, mode: 0o700 })
  lock = new Database(folder.lockFile)
  try {
    lock.run('begin exclusive')
  } catch {
    const pid = existsSync(folder.pidFile) ? ` (process ${readFileSync(folder.pidFile, 'utf8')})` : ''
    throw new Error(
      `A stack already runs in ${folder.path}${pid}. Another folder and port start one beside it: LOCAL_DIR=.local-2 PORT=8090 npm start`,
    )
  }
  writeFileSync(folder.pidFile, String(process.pid))
}
