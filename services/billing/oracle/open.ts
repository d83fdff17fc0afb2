import type { Log } from '@tollgate/service'
import type { Config } from '../config.ts'
import { coingeckoSource } from './coingecko.ts'
import { jupiterSource } from './jupiter.ts'
import { createOracle, type Oracle } from './oracle.ts'
import { pythSource } from './pyth.ts'
import type { PriceSource } from './reading.ts'
import { staticSource } from './static.ts'

const CACHE_MS = 10_000

/** The oracle that the configuration names. */
export function openOracle(config: Config, log: Log): Oracle {
  const sources = config.PRICE_SOURCES.map(name => sourceOf(name, config))
  const quorum = Math.min(config.PRICE_QUORUM, sources.length)
  const rules = {
    quorum: Math.max(1, quorum),
    maxAgeMs: config.PRICE_MAX_AGE_MS,
    maxConfidenceBps: 100n,
    minLiquidityUsd: BigInt(config.PRICE_MIN_LIQUIDITY_USD),
    maxSpreadBps: 250n,
    maxJumpBps: 1_000n,
    jumpWindowMs: 10 * 60_000,
    stable: config.PRICE_STABLE === '1',
  }
  return createOracle({ sources, rules, cacheMs: CACHE_MS, now: Date.now, log })
}

function sourceOf(name: string, config: Config): PriceSource {
  switch (name) {
    case 'static':
      return staticSource(config.TOKEN_PRICE_USD)
    case 'jupiter':
      return jupiterSource({ baseUrl: config.JUPITER_URL, apiKey: config.JUPITER_API_KEY.reveal() })
    case 'pyth':
      return pythSource({ baseUrl: config.PYTH_URL, apiKey: config.PYTH_API_KEY.reveal(), feedId: config.PYTH_FEED_ID })
    case 'coingecko':
      return coingeckoSource({ baseUrl: config.COINGECKO_URL, apiKey: config.COINGECKO_API_KEY.reveal() })
    default:
      throw new Error(`PRICE_SOURCES: no source "${name}" (there are static, jupiter, pyth, coingecko)`)
  }
}
