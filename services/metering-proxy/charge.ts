import type { ledger, RequestOf } from '@tollgate/contracts'
import { costMicro, type Prices } from './price.ts'
import type { Settled, Settlement } from './settlements.ts'
import type { Usage } from './usage.ts'
import { within } from './within.ts'

type Detail = RequestOf<typeof ledger.settle>['detail']
export type Outcome = Detail['outcome']

/** How a request ended, in money. */
export interface Ending {
  readonly usage: Usage
  readonly estimated: boolean
  readonly outcome: Outcome
  readonly route: string
}

/** The money of one request, from its hold to its one end. */
export interface Charge {
  readonly requestId: string
  readonly account: RequestOf<typeof ledger.hold>['account']
  readonly holdId: string
  readonly grantedMicro: bigint
  /** What the work done so far costs: what an expiry of the hold would charge. */
  readonly soFarMicro: bigint
  /** Says where `soFarMicro` is read. */
  track(soFar: () => Usage): void
  /** Charges once. Resolves with the amount charged, in micro-USD, when the ledger answered or the wait for it is over. */
  settle(ending: Ending): Promise<bigint>
  /** Charges nothing: no output was given. */
  release(): Promise<void>
  readonly closed: boolean
}

export interface ChargeOptions {
  readonly requestId: string
  readonly account: Charge['account']
  readonly holdId: string
  readonly grantedMicro: bigint
  readonly model: string
  readonly prices: Prices
  deliver(settlement: Settlement): Promise<Settled>
  /** Called at the one end. */
  onClose(): void
}

/** A settlement that waits longer goes on without the caller, who is told what it will be. */
const ANSWER_WITHIN_MS = 5_000
const MICRO_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/** The first of settle and release decides; later calls get its result. So every way that a request can end may call. */
export function openCharge(options: ChargeOptions): Charge {
  const { requestId, account, holdId, grantedMicro, prices } = options
  let ending: Promise<bigint> | undefined
  let soFar: (() => Usage) | undefined

  function close(settlement: Settlement, expectedMicro: bigint): Promise<bigint> {
    options.onClose()
    const delivered = options.deliver(settlement).then(reply => chargedBy(reply) ?? expectedMicro)
    return within(delivered, ANSWER_WITHIN_MS).then(chargedMicro => chargedMicro ?? expectedMicro)
  }

  function settlementOf({ usage, estimated, outcome, route }: Ending, amountMicro: bigint): Settlement {
    const { inMicro, outMicro, cachedInMicro, cacheWriteMicro } = prices
    const detail: Detail = {
      v: 1,
      requestId,
      model: options.model,
      route,
      ...usage,
      inMicro,
      outMicro,
      cachedInMicro,
      cacheWriteMicro,
      estimated,
      outcome,
    }
    return {
      kind: 'settle',
      request: { id: `settle:${requestId}`, hold: holdId, account, costMicro: amountMicro, detail },
    }
  }

  return {
    requestId,
    account,
    holdId,
    grantedMicro,
    get soFarMicro() {
      return soFar ? least(costMicro(soFar(), prices), grantedMicro) : 0n
    },
    get closed() {
      return ending !== undefined
    },
    track(read) {
      soFar = read
    },
    settle(end) {
      // What we counted ourselves is never charged beyond what was held; what a provider reported is the bill.
      const amountMicro = least(costMicro(end.usage, prices), end.estimated ? grantedMicro : MICRO_MAX)
      ending ??= close(settlementOf(end, amountMicro), amountMicro)
      return ending
    },
    async release() {
      ending ??= close({ kind: 'release', request: { id: `release:${requestId}`, hold: holdId, account } }, 0n)
      await ending
    },
  }
}

/** Null when the ledger has not said: then the formula's cost is our best word. */
function chargedBy(reply: Settled): bigint | null {
  if (!reply) return null
  if (reply.status === 'settled') return reply.chargedMicro
  return reply.status === 'released' ? 0n : null
}

/** `Math.min` takes no bigint. */
function least(one: bigint, other: bigint): bigint {
  if (one < other) return one
  return other
}
