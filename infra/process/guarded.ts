import { closeSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLog, type Running } from './spawned.ts'

const guardian = readFileSync(join(import.meta.dir, 'guardian.sh'), 'utf8')

/** The account that a process runs as, when that is not our own. */
export interface Account {
  uid: number
  gid: number
}

/** A server of others (Postgres, nats-server), which would outlive us: it runs below a guardian. */
export interface GuardedSpec {
  command: string[]
  env: Record<string, string>
  logFile: string
  stopSignal: 'INT' | 'TERM'
  /** How long it may take to stop before it is killed. */
  stopWithinMs: number
  account?: Account | undefined
  /** Removed by the guardian after `stop` or our end: for tests, whose own process may be gone by then. */
  remove?: string
}

/**
 * Starts a server that stops when this process ends, however it ends. Its output goes to `logFile`, appended. The pid is
 * the guardian's; the server's own is in its pid file. Stopping it closes the pipe, as our death would.
 */
export function startGuarded(spec: GuardedSpec): Running {
  const log = openLog(spec.logFile)
  const patience = String(Math.ceil(spec.stopWithinMs / 100))
  try {
    const child = Bun.spawn(
      ['/bin/sh', '-c', 'eval "$GUARDIAN"', 'guardian', spec.stopSignal, patience, spec.remove ?? '', ...spec.command],
      {
        // The folder we were started in may be closed to the account.
        cwd: '/',
        env: { ...spec.env, GUARDIAN: guardian },
        stdin: 'pipe',
        stdout: log,
        stderr: log,
        // Ctrl-C in a terminal reaches a whole process group: the supervisor alone decides the order of stopping.
        detached: true,
        ...spec.account,
      },
    )
    return {
      pid: child.pid,
      exited: child.exited,
      alive: () => child.exitCode === null && child.signalCode === null,
      // The whole group: the guardian and the server.
      kill: () => process.kill(-child.pid, 'SIGKILL'),
      stop: () => {
        child.stdin.end()
        return child.exited
      },
    }
  } finally {
    closeSync(log)
  }
}
