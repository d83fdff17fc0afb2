import { UpstreamFailure } from './providers/failure.ts'

/** Ends an upstream call that takes too long, or whose request ended. */
export interface Watchdog {
  readonly signal: AbortSignal
  /** From now on, silence of this length ends the call. */
  allow(silenceMs: number): void
  /** The failure behind an error that the call threw: the reason of its end, else what the connection said. */
  explain(error: unknown): UpstreamFailure
  /** Ends the call and the watch. */
  stop(): void
}

/** Watches a call of a request; `life` ends with the request. */
export function watchdog(life: AbortSignal): Watchdog {
  const own = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const follow = () => own.abort(life.reason)
  if (life.aborted) follow()
  else life.addEventListener('abort', follow, { once: true })

  return {
    signal: own.signal,
    allow(silenceMs) {
      clearTimeout(timer)
      timer = setTimeout(() => own.abort(timedOut(silenceMs)), silenceMs)
    },
    explain(error) {
      if (own.signal.reason instanceof UpstreamFailure) return own.signal.reason
      if (error instanceof UpstreamFailure) return error
      return new UpstreamFailure('failed', 'the connection to the provider failed', { cause: error })
    },
    stop() {
      clearTimeout(timer)
      life.removeEventListener('abort', follow)
      own.abort(ended)
    },
  }
}

/** No failure: what is left of a call whose answer is read is let go. */
const ended = new Error('the call ended')

function timedOut(silenceMs: number): UpstreamFailure {
  return new UpstreamFailure('failed', `the provider was silent for ${silenceMs} ms`, { outcome: 'timed_out' })
}
