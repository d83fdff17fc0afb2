import { tail } from '@tollgate/process'
import type { Folder, Secrets } from './folder.ts'
import { type Output, readable } from './output.ts'
import type { Ports } from './ports.ts'
import type { Registry } from './registry.ts'
import { type Supervised, type Supervision, supervise } from './supervisor.ts'

/** What a part of the stack is started with. */
export interface Stage {
  folder: Folder
  secrets: Secrets
  ports: Ports
  output: Output
  environment: Record<string, string>
  registry: Registry
  /** The state goes when the stack stops, so it need not survive the machine's crash. */
  throwaway: boolean
  /** Starts a process and keeps it running; resolves when it is ready. Rejects once the stack is ending. */
  keep(part: Part): Promise<void>
  /** Stops the named processes, all at once, and resolves when they are gone. */
  stop(isMeant: (name: string) => boolean): Promise<void>
  /** Nothing starts any more. */
  close(): void
  killAll(): void
}

interface Part extends Omit<Supervision, 'onCrashed'> {
  /** Part of its command line. */
  script: string
}

/** Crashes that the console tells of, one by one; a service that goes on crashing would fill it. */
const REPORTED_CRASHES = 5
const SHOWN_LINES = 10
const SAME_REASON_MS = 10_000

export function createStage(options: Omit<Stage, 'keep' | 'stop' | 'close' | 'killAll'>): Stage {
  const { folder, output, registry } = options
  const kept = new Map<string, Supervised>()
  let closed = false
  return {
    ...options,
    async keep(part) {
      if (closed) throw new Error('the stack is ending')
      const supervised = supervise({
        ...part,
        onStarted(pid) {
          registry.started({ name: part.name, script: part.script, pid })
          part.onStarted?.(pid)
        },
        onCrashed: crashReporter(part.name, folder, output),
      })
      kept.set(part.name, supervised)
      await supervised.ready
    },
    async stop(isMeant) {
      const meant = [...kept].filter(([name]) => isMeant(name))
      await Promise.all(meant.map(([, supervised]) => supervised.stop()))
    },
    close() {
      closed = true
    },
    killAll() {
      closed = true
      for (const supervised of kept.values()) supervised.kill()
    },
  }
}

function crashReporter(name: string, folder: Folder, output: Output) {
  let crashes = 0
  let shownAt = Number.NEGATIVE_INFINITY
  return (end: string, willRestart: boolean) => {
    crashes++
    if (crashes > REPORTED_CRASHES && willRestart) return
    const next = willRestart ? 'restarting' : 'giving up'
    const silence = crashes === REPORTED_CRASHES ? ' (further ends are only in its log)' : ''
    // Who was killed from outside has nothing to say about it; who crashes again at once says the same again.
    const isNews = !/status (137|143)$/.test(end) && performance.now() - shownAt > SAME_REASON_MS
    if (isNews) shownAt = performance.now()
    output.line(`  ${name} ${end}, ${next}${silence}${isNews ? lastWords(folder.log(name)) : ''}`)
  }
}

function lastWords(file: string): string {
  return `; the end of ${file}:\n${readable(tail(file, SHOWN_LINES)).replace(/^/gm, '    ')}`
}
