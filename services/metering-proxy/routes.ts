import { type CircuitBreakerPolicy, CircuitState, circuitBreaker, handleWhen, SamplingBreaker } from 'cockatiel'
import type { Model, Route } from './catalogue.ts'
import { UpstreamFailure } from './providers/failure.ts'

/**
 * A route rests when half of its attempts fail, of ten at least within ten seconds: one caller whose odd requests make a
 * provider stumble does not take it from the others.
 */
const BREAKING = { threshold: 0.5, duration: 10_000, minimumRps: 1 } as const
const REST_MS = 5_000

interface Health {
  readonly breaker: CircuitBreakerPolicy
  /** ms since the epoch; then one request tries it. */
  restsUntil: number
  inWork: number
}

/** The routes' health in this process: whom to ask, in which order. */
export interface Routes {
  /**
   * The routes that have room and don't rest, best first. Where all rest, they are asked all the same: a rest spares callers a
   * route while another can answer them, and would turn a stumbling only route into a dead one.
   */
  candidates(model: Model): Route[]
  /** Takes a place at a route until `leave` is called. */
  enter(route: Route): { leave(): void }
  /** Runs an attempt and lets its outcome count, unless the route rests. Throws what the attempt throws. */
  attempt<T>(route: Route, run: () => Promise<T>): Promise<T>
}

/**
 * Health is each process's own: a replica learns of a dead provider from ten requests of its own, which is cheaper than
 * asking the others before every request. `random` is in [0, 1).
 */
export function openRoutes(random: () => number): Routes {
  const healths = new WeakMap<Route, Health>()

  function healthOf(route: Route): Health {
    const known = healths.get(route)
    if (known) return known
    const health: Health = { breaker: newBreaker(), restsUntil: 0, inWork: 0 }
    health.breaker.onBreak(() => {
      health.restsUntil = Date.now() + REST_MS
    })
    healths.set(route, health)
    return health
  }

  return {
    candidates(model) {
      const withRoom = model.routes.filter(route => healthOf(route).inWork < route.concurrency)
      const awake = withRoom.filter(route => !isResting(healthOf(route)))
      return byOrderAndWeight(awake.length > 0 ? awake : withRoom, random)
    },
    enter(route) {
      const health = healthOf(route)
      health.inWork++
      let inside = true
      return {
        leave() {
          if (inside) health.inWork--
          inside = false
        },
      }
    },
    attempt(route, run) {
      const health = healthOf(route)
      return isResting(health) ? run() : health.breaker.execute(run)
    },
  }
}

/** Also while one request tries it: the library would let others wait for the outcome, which can take minutes. */
function isResting({ breaker, restsUntil }: Health): boolean {
  return breaker.state === CircuitState.HalfOpen || (breaker.state === CircuitState.Open && Date.now() < restsUntil)
}

/** Only what says something about the route counts against it: not a bad request, not a caller who left. */
function newBreaker(): CircuitBreakerPolicy {
  const countsAgainst = (error: unknown) =>
    error instanceof UpstreamFailure &&
    error.kind === 'failed' &&
    (error.detail.outcome === undefined || error.detail.outcome === 'timed_out')
  return circuitBreaker(handleWhen(countsAgainst), { halfOpenAfter: REST_MS, breaker: new SamplingBreaker(BREAKING) })
}

/** Lower orders first; within one, a weighted draw without putting back. */
export function byOrderAndWeight(routes: readonly Route[], random: () => number): Route[] {
  const drawn = routes.map(route => ({ route, ticket: random() ** (1 / route.weight) }))
  return drawn.sort((a, b) => a.route.order - b.route.order || b.ticket - a.ticket).map(({ route }) => route)
}
