import type { Bus } from '@tollgate/bus'
import { type AccountId, ledger, newId } from '@tollgate/contracts'

export interface Load {
  bus: Bus
  accounts: readonly AccountId[]
  /** Pairs under way at once; each holds, then settles. */
  inFlight: number
  seconds: number
}

export interface Measured {
  pairsPerSecond: number
  holdP50Ms: number
  holdP99Ms: number
  settleP50Ms: number
  settleP99Ms: number
}

const HOLD_MICRO = 1_000n
const COST_MICRO = 700n
/** Not measured: connections open, plans are made, code is compiled. */
const WARM_UP_SHARE = 0.25

/** Drives hold + settle pairs from this process through NATS, as the metering proxy would, and measures each call. */
export async function drive({ bus, accounts, inFlight, seconds }: Load): Promise<Measured> {
  const holds: number[] = []
  const settles: number[] = []
  const started = performance.now()
  const measuredFrom = started + seconds * 1_000 * WARM_UP_SHARE
  const until = started + seconds * 1_000
  let turn = 0

  async function one(): Promise<void> {
    while (performance.now() < until) {
      const account = accounts[turn++ % accounts.length]
      if (!account) return
      const request = newId('request')
      const asked = performance.now()
      const hold = await bus.call(ledger.hold, holdRequest(request, account))
      const granted = performance.now()
      if (hold.status !== 'held') throw new Error(`a hold was refused: ${hold.reason}`)
      const settled = await bus.call(ledger.settle, settleRequest(request, account))
      if (settled.status !== 'settled') throw new Error(`a settlement was refused: ${settled.reason}`)
      if (asked < measuredFrom) continue
      holds.push(granted - asked)
      settles.push(performance.now() - granted)
    }
  }

  await Promise.all(Array.from({ length: inFlight }, one))
  holds.sort((a, b) => a - b)
  settles.sort((a, b) => a - b)
  return {
    pairsPerSecond: holds.length / ((until - measuredFrom) / 1_000),
    holdP50Ms: quantile(holds, 0.5),
    holdP99Ms: quantile(holds, 0.99),
    settleP50Ms: quantile(settles, 0.5),
    settleP99Ms: quantile(settles, 0.99),
  }
}

const holdRequest = (request: string, account: AccountId) => ({
  id: `hold:${request}`,
  account,
  key: null,
  minMicro: HOLD_MICRO,
  maxMicro: HOLD_MICRO,
  ttlMs: 60_000,
})

const settleRequest = (request: string, account: AccountId) => ({
  id: `settle:${request}`,
  hold: `hold:${request}`,
  account,
  costMicro: COST_MICRO,
  detail: {
    v: 1 as const,
    requestId: request,
    model: 'gpt-4o-mini',
    route: 'openai',
    promptTokens: 1_200,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 300,
    inMicro: 150_000n,
    outMicro: 600_000n,
    cachedInMicro: 75_000n,
    cacheWriteMicro: null,
    estimated: false,
    outcome: 'completed' as const,
  },
})

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
