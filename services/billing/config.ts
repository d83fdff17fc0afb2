import {
  commonConfig,
  databaseConfig,
  identityConfig,
  list,
  num,
  readEnvironment,
  Secret,
  secret,
  str,
} from '@tollgate/service'
import { makeValidator } from 'envalid'
import { parseDecimal } from './decimal.ts'
import { PRICE_DECIMALS } from './quote.ts'

/** A price in USD as plain decimal text, kept exactly. */
const price = makeValidator<bigint>(text => {
  const scaled = parseDecimal(text, PRICE_DECIMALS)
  if (scaled === null || scaled <= 0n) throw new Error('must be a decimal above zero')
  return scaled
})
const key = (desc: string) => secret({ default: new Secret(''), desc })

/** Everything that the service is told. */
export function readConfig(env: NodeJS.ProcessEnv = process.env) {
  return readEnvironment(
    {
      ...commonConfig,
      ...databaseConfig,
      ...identityConfig,
      PRICE_SOURCES: list({ default: ['static'], desc: 'static, jupiter, pyth, coingecko; comma separated' }),
      PRICE_QUORUM: num({ default: 2, desc: 'sources that must agree, where so many are named' }),
      PRICE_MAX_AGE_MS: num({ default: 120_000, desc: 'oldest price that counts' }),
      PRICE_MIN_LIQUIDITY_USD: num({
        default: 50_000,
        desc: 'least liquidity behind a price, where a source tells it',
      }),
      PRICE_STABLE: str({ default: '', desc: '1: the token is pegged to one dollar' }),
      TOKEN_PRICE_USD: price({ default: 10n ** BigInt(PRICE_DECIMALS), desc: 'the static price; 1 where not set' }),
      JUPITER_URL: str({ default: 'https://api.jup.ag' }),
      JUPITER_API_KEY: key('empty for the keyless tier'),
      PYTH_URL: str({ default: 'https://pyth.dourolabs.app/hermes' }),
      PYTH_API_KEY: key('access token of Hermes'),
      PYTH_FEED_ID: str({ default: '', desc: 'feed of the token in USD' }),
      COINGECKO_URL: str({ default: 'https://api.coingecko.com' }),
      COINGECKO_API_KEY: key('demo key'),
      TOPUP_MAX_USD: num({ default: 100_000, desc: 'largest single top-up' }),
      OPEN_INTENTS_MAX: num({ default: 100, desc: 'unpaid quotes that an account may have at once' }),
      PAY_LABEL: str({ default: '', desc: 'name that a wallet shows with the payment' }),
      PAY_MESSAGE: str({ default: '', desc: 'text that a wallet shows with the payment' }),
      SWEEP_INTERVAL_MS: num({ default: 1_000, desc: 'time between two looks for work left behind' }),
    },
    env,
  )
}

export type Config = ReturnType<typeof readConfig>
