import { closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs'

/** A process of ours: it ends when its standard input closes (SUPERVISED=1), so it needs no guardian. */
export interface SpawnSpec {
  command: string[]
  cwd: string
  env: Record<string, string>
  logFile: string
  /** How long it may take to end before it is killed. */
  stopWithinMs: number
}

/** What a supervisor can do with a process, whichever kind it is. */
export interface Running {
  pid: number
  exited: Promise<number>
  alive(): boolean
  /** Asks it to end, kills it when it takes too long, and resolves when it is gone. */
  stop(): Promise<unknown>
  kill(): void
}

/** A log that outgrew this is put aside when its process starts again. */
const LOG_MAX_BYTES = 64 * 1024 * 1024

export function startSpawned({ command, cwd, env, logFile, stopWithinMs }: SpawnSpec): Running {
  const log = openLog(logFile)
  try {
    const child = Bun.spawn(command, {
      cwd,
      env: { ...env, SUPERVISED: '1' },
      stdin: 'pipe',
      stdout: log,
      stderr: log,
      // Ctrl-C in a terminal reaches a whole process group: the supervisor alone decides the order of stopping.
      detached: true,
    })
    const kill = () => child.kill('SIGKILL')
    return {
      pid: child.pid,
      exited: child.exited,
      alive: () => child.exitCode === null && child.signalCode === null,
      kill,
      async stop() {
        child.kill('SIGTERM')
        const timer = setTimeout(kill, stopWithinMs)
        await child.exited
        clearTimeout(timer)
      },
    }
  } finally {
    closeSync(log)
  }
}

export function openLog(file: string): number {
  if (existsSync(file) && statSync(file).size > LOG_MAX_BYTES) renameSync(file, `${file}.old`)
  return openSync(file, 'a', 0o600)
}
