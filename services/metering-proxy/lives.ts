import { UpstreamFailure } from './providers/failure.ts'

/** How long the work of a request may go on. */
export interface LifeTimes {
  /** In all. */
  readonly totalMs: number
  /** After the caller left a stream: time for the provider to reach its usage. */
  readonly drainMs: number
}

/** The work of one request, which can outlive its caller, and never the process. */
export interface Life {
  /** Ends the work; its reason is an `UpstreamFailure` that says why. */
  readonly signal: AbortSignal
  /** The caller left: the rest is bounded more narrowly. */
  abandon(): void
  readonly abandoned: boolean
  /** The work is done. */
  end(): void
}

export interface Lives {
  begin(): Life
  readonly count: number
  /** Ends all work, and resolves when it has been settled or after `withinMs`. */
  stop(withinMs: number): Promise<void>
}

/** Streams whose callers left that are read on at once; more are cut, so that leaving can't be used to pile up work. */
const ABANDONED_MAX = 1_000
const POLL_MS = 10

export function openLives({ totalMs, drainMs }: LifeTimes): Lives {
  const lives = new Set<AbortController>()
  let abandoned = 0

  function begin(): Life {
    const controller = new AbortController()
    lives.add(controller)
    let left = false
    const endWith = (failure: () => UpstreamFailure) => () => controller.abort(failure())
    const total = setTimeout(
      endWith(() => timedOut(totalMs)),
      totalMs,
    )
    let drain: ReturnType<typeof setTimeout> | undefined
    return {
      signal: controller.signal,
      abandon() {
        if (left || !lives.has(controller)) return
        left = true
        abandoned++
        drain = setTimeout(
          endWith(() => callerLeft),
          abandoned > ABANDONED_MAX ? 0 : drainMs,
        )
      },
      get abandoned() {
        return left
      },
      end() {
        if (!lives.delete(controller)) return
        if (left) abandoned--
        clearTimeout(total)
        clearTimeout(drain)
      },
    }
  }

  return {
    begin,
    get count() {
      return lives.size
    },
    async stop(withinMs) {
      const deadline = performance.now() + withinMs
      for (const life of lives) life.abort(shutdown)
      while (lives.size > 0 && performance.now() < deadline) await Bun.sleep(POLL_MS)
    },
  }
}

const callerLeft = new UpstreamFailure('failed', 'the caller left', { outcome: 'aborted' })
const shutdown = new UpstreamFailure('failed', 'the service ends', { outcome: 'shutdown' })

function timedOut(totalMs: number): UpstreamFailure {
  return new UpstreamFailure('failed', `the request took longer than ${totalMs} ms`, { outcome: 'timed_out' })
}
