import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Backoff, backOff, HEALTHY } from './backoff.ts'
import { askEndpoint } from './endpoint.ts'
import { RpcFault, RpcRefusal, RpcUnavailable } from './faults.ts'

export interface RpcOptions {
  /** The preferred one first. */
  urls: readonly string[]
  /** An endpoint with another genesis hash is on another chain and never used. Null: whichever chain answers. */
  genesisHash: string | null
  /** Aborted at the service's end: what is asked or waited for then is unavailable at once. */
  ended?: AbortSignal
  /** Told of each endpoint's trouble, without its URL: those carry keys. */
  onFault?(endpoint: number, fault: Error, inARow: number): void
}

export interface AskOptions {
  /** Time to get an answer over all endpoints and waits. */
  deadlineMs?: number
  /** The endpoint to ask first, counted from the preferred one, for whoever wants another's word. */
  first?: number
}

/** The chain's nodes as one: asks the first healthy endpoint, and the next when that one fails. */
export interface Rpc {
  /** How many there are. */
  nodes: number
  ask<S extends TSchema>(
    method: string,
    params: readonly unknown[],
    schema: S,
    options?: AskOptions,
  ): Promise<Static<S>>
}

interface Endpoint {
  index: number
  url: string
  backoff: Backoff
  /** When its genesis hash was last seen to be right, by the monotonic clock. */
  verifiedAt: number
}

const ATTEMPT_MS = 3_000
const DEADLINE_MS = 10_000
/** A proxy may send us to another cluster one day: look again now and then, and after every trouble. */
const VERIFY_EVERY_MS = 60_000

export function openRpc(options: RpcOptions): Rpc {
  const ended = options.ended ?? new AbortController().signal
  const endpoints = options.urls.map((url, index): Endpoint => {
    return { index, url, backoff: HEALTHY, verifiedAt: Number.NEGATIVE_INFINITY }
  })

  async function attempt(endpoint: Endpoint, method: string, params: readonly unknown[], timeoutMs: number) {
    const signal = AbortSignal.any([ended, AbortSignal.timeout(timeoutMs)])
    if (options.genesisHash !== null && performance.now() - endpoint.verifiedAt > VERIFY_EVERY_MS) {
      const found = await askEndpoint(endpoint.url, 'getGenesisHash', [], signal)
      if (found !== options.genesisHash) throw new RpcFault(`the endpoint is on another chain (${String(found)})`)
      endpoint.verifiedAt = performance.now()
    }
    return askEndpoint(endpoint.url, method, params, signal)
  }

  /** Questions that were under way together fail together: that is one trouble, not many. */
  function trouble(endpoint: Endpoint, before: Backoff, fault: RpcFault): void {
    if (endpoint.backoff !== before) return
    endpoint.backoff = backOff(endpoint.backoff, performance.now(), fault.retryAfterMs, Math.random())
    endpoint.verifiedAt = Number.NEGATIVE_INFINITY
    options.onFault?.(endpoint.index, fault, endpoint.backoff.failures)
  }

  return {
    nodes: endpoints.length,
    async ask(method, params, schema, { deadlineMs = DEADLINE_MS, first = 0 } = {}) {
      const inTurn = [...endpoints.slice(first), ...endpoints.slice(0, first)]
      const deadline = performance.now() + deadlineMs
      let last: RpcFault | undefined
      for (;;) {
        const endpoint = soonest(inTurn)
        const waitMs = endpoint.backoff.until - performance.now()
        const leftMs = deadline - performance.now()
        if (ended.aborted) throw new RpcUnavailable(`${method}: the service ends`)
        if (leftMs <= 0 || waitMs >= leftMs) {
          throw new RpcUnavailable(`${method}: no endpoint answered within ${deadlineMs} ms`, { cause: last })
        }
        if (waitMs > 0) await sleep(waitMs, ended)
        const before = endpoint.backoff
        try {
          const result = await attempt(endpoint, method, params, Math.min(ATTEMPT_MS, leftMs))
          if (!Value.Check(schema, result)) throw new RpcFault(`${method}: the result has an unknown shape`)
          endpoint.backoff = HEALTHY
          return result
        } catch (fault) {
          if (fault instanceof RpcRefusal) endpoint.backoff = HEALTHY
          if (!(fault instanceof RpcFault)) throw fault
          last = fault
          trouble(endpoint, before, fault)
        }
      }
    },
  }
}

/** The first that may be asked now, else the one that may be asked soonest. */
function soonest(endpoints: readonly Endpoint[]): Endpoint {
  const now = performance.now()
  const [first, ...rest] = endpoints
  if (!first) throw new RpcUnavailable('no RPC endpoint is configured')
  return rest.reduce((best, next) => {
    return Math.max(next.backoff.until, now) < Math.max(best.backoff.until, now) ? next : best
  }, first)
}

/** Waits, or until the signal. */
function sleep(ms: number, ended: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      ended.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    ended.addEventListener('abort', done)
  })
}
