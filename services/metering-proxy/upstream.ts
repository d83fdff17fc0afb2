import type { Log } from '@tollgate/service'
import { type Attempted, attempt, type Patience, type Task } from './attempt.ts'
import type { Model, Route } from './catalogue.ts'
import { UpstreamFailure } from './providers/failure.ts'
import type { Routes } from './routes.ts'
import type { Telemetry } from './telemetry.ts'

/** A request to whichever provider answers. */
export interface Call {
  readonly requestId: string
  readonly model: Model
  readonly task: Task
  /** The completion limit that was paid for. */
  readonly limit: number
  /** Ends with the request; its reason is an `UpstreamFailure`. */
  readonly life: AbortSignal
}

/** The provider that answers, and with which limit. */
export type Opened = Attempted & { readonly route: Route; readonly limit: number }

export interface UpstreamOptions {
  readonly routes: Routes
  readonly patience: Patience
  readonly telemetry: Telemetry
  readonly log: Log
}

/** Routes tried for one request, and the time after which no other is begun: a caller waits too. */
const ATTEMPTS_MAX = 3
const RETRY_WITHIN_MS = 60_000

/**
 * Calls the model's routes until one answers: the whole answer, or the first events of a stream. Nothing has been shown to the
 * caller until then, so that another route may take over; it never may after. Throws the last `UpstreamFailure`.
 */
export async function openUpstream(call: Call, options: UpstreamOptions): Promise<Opened> {
  const { routes, telemetry } = options
  const started = performance.now()
  let last: UpstreamFailure | undefined
  for (const route of routes.candidates(call.model).slice(0, ATTEMPTS_MAX)) {
    const asked = performance.now()
    if (asked - started > RETRY_WITHIN_MS) break
    const seconds = () => (performance.now() - asked) / 1000
    try {
      const opened = await openRoute(route, call, options)
      telemetry.attempted(route.name, 'answered', seconds())
      return opened
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      last = error.detail.outcome === 'aborted' ? leftAt(route, error) : error
      telemetry.attempted(route.name, error.kind, seconds())
      note(options.log, call, route, error)
      if (error.kind === 'refused' || error.kind === 'too_long' || call.life.aborted) break
    }
  }
  throw last ?? new UpstreamFailure('limited', 'all routes are busy')
}

/** One route; once more with a smaller limit when the limit that we chose was what made it too long. */
async function openRoute(route: Route, call: Call, { routes, patience }: UpstreamOptions): Promise<Opened> {
  const { task, life } = call
  const place = routes.enter(route)
  const open = async (limit: number): Promise<Opened> => {
    const run = () => attempt({ route, task, limit, life, patience, onEnd: place.leave })
    return { ...(await routes.attempt(route, run)), route, limit }
  }
  try {
    return await open(call.limit).catch(error => {
      const smaller =
        error instanceof UpstreamFailure && error.kind === 'too_long' ? task.smaller(call.limit, error) : null
      if (smaller === null) throw error
      return open(smaller)
    })
  } catch (error) {
    place.leave()
    throw error
  }
}

/** The provider has the prompt, and may bill it. */
function leftAt({ name }: Route, { kind, message, detail }: UpstreamFailure): UpstreamFailure {
  return new UpstreamFailure(kind, message, { ...detail, asked: name })
}

function note(log: Log, { requestId, model }: Call, route: Route, failure: UpstreamFailure): void {
  const event = { requestId, model: model.id, route: route.name, kind: failure.kind, ...failure.detail, err: failure }
  if (failure.kind === 'credentials')
    log.error({ ...event, alert: true }, 'a provider refused our credentials or credit')
  else log.warn(event, 'a provider did not answer')
}
