import { eventually, type Running } from '@tollgate/process'

export interface Supervision {
  name: string
  start(): Promise<Running> | Running
  /** Asked until it is true, while the process runs; may throw. */
  isReady(running: Running): Promise<boolean> | boolean
  /** After every start, the first included. */
  onStarted?(pid: number): void
  /** When it ended without being asked to. */
  onCrashed?(end: string, willRestart: boolean): void
}

export interface Supervised {
  /** Resolves when the process is of use for the first time; rejects when it gives up before. */
  ready: Promise<void>
  stop(): Promise<void>
  /** At once and for good. */
  kill(): void
}

/** A process that ran this long counts as well: its next crash is its first. */
const STABLE_MS = 5_000
/** Well below the second within which a killed service is back. */
const RESTART_DELAYS_MS = [0, 100, 300, 600]
/** Before a process was ever ready, its crashes are most likely a mistake that stays. */
const MAX_START_CRASHES = 4
const READY_WITHIN_MS = 60_000

/** Keeps a process running, on the same port and with the same environment, until it is stopped. */
export function supervise(supervision: Supervision): Supervised {
  const { name } = supervision
  let running: Running | undefined
  let wasReady = false
  let stopping = false
  let gaveUp = false

  async function keepRunning(): Promise<void> {
    let crashes = 0
    while (!stopping) {
      const started = performance.now()
      const end = await runOnce()
      if (stopping) return
      crashes = performance.now() - started > STABLE_MS ? 1 : crashes + 1
      gaveUp = !wasReady && crashes >= MAX_START_CRASHES
      supervision.onCrashed?.(end, !gaveUp)
      if (gaveUp) return
      await Bun.sleep(RESTART_DELAYS_MS[crashes - 1] ?? RESTART_DELAYS_MS.at(-1) ?? 0)
    }
  }

  /** Resolves with how it ended. */
  async function runOnce(): Promise<string> {
    try {
      running = await supervision.start()
    } catch (error) {
      return `could not start: ${error instanceof Error ? error.message : String(error)}`
    }
    if (stopping) await running.stop()
    else supervision.onStarted?.(running.pid)
    return `ended with status ${await running.exited}`
  }

  async function becomeReady(): Promise<void> {
    await eventually(async () => stopping || gaveUp || (running?.alive() && (await supervision.isReady(running))), {
      withinMs: READY_WITHIN_MS,
      everyMs: 15,
    })
    if (stopping || gaveUp) throw new Error(`${name} did not become ready`)
    wasReady = true
  }

  const kept = keepRunning()
  return {
    ready: becomeReady(),
    async stop() {
      stopping = true
      await running?.stop()
      await kept
    },
    kill() {
      stopping = true
      if (running?.alive()) running.kill()
    },
  }
}
