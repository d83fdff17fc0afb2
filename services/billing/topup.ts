import { randomBytes } from 'node:crypto'
import type { Bus } from '@tollgate/bus'
import {
  type AccountId,
  blockhash as blockhashAsk,
  INTENT_TTL_MS,
  MIN_TOPUP_MICRO,
  microFromUsdText,
  newId,
  PublicError,
  treasury as treasuryAsk,
} from '@tollgate/contracts'
import bs58 from 'bs58'
import type { Oracle } from './oracle/oracle.ts'
import { tokenRawFor } from './quote.ts'
import type { IntentRow, NewIntent, Store } from './store.ts'

export interface TopupOptions {
  store: Store
  bus: Bus
  oracle: Oracle
  /** Largest single top-up. */
  maxMicro: bigint
  /** Unpaid quotes that an account may have at once. */
  openMax: number
}

/** Solana's public keys, and hence references, are 32 bytes. Any 32 bytes serve: nobody signs for them. */
const REFERENCE_BYTES = 32
const CHAIN_DEADLINE = { deadlineMs: 6_000, attemptMs: 6_000 } as const
const RETRY_S = 2
const OPEN_RETRY_S = 60

/** Quotes a USD amount in payment token and keeps the quote (interface.md, "POST /billing/topup"). */
export function createTopup({ store, bus, oracle, maxMicro, openMax }: TopupOptions) {
  return async (account: AccountId, amountText: string): Promise<IntentRow> => {
    const usdMicro = parseAmount(amountText, maxMicro)
    const treasury = await askTreasury(bus)
    const [price, fresh] = await Promise.all([oracle.price(treasury.mint), freshBlockhash(bus)])
    if (price.status === 'refused') {
      throw new PublicError('service_unavailable', 'the payment token has no reliable price now; try again shortly', {
        retryAfterSeconds: RETRY_S,
        cause: new Error(price.reason),
      })
    }
    const { priceScaled, sources: priceSources } = price
    const tokenRaw = tokenRawFor(usdMicro, { priceScaled, decimals: treasury.decimals })
    if (tokenRaw === null) throw new PublicError('bad_request', '"amount" is more tokens than an account can hold')
    const row: NewIntent = {
      id: newId('intent'),
      reference: bs58.encode(randomBytes(REFERENCE_BYTES)),
      account,
      usdMicro,
      tokenRaw,
      decimals: treasury.decimals,
      mint: treasury.mint,
      treasury: treasury.treasury,
      network: treasury.network,
      priceScaled,
      priceSources,
      ...fresh,
    }
    const stored = await store.insertIntent(row, INTENT_TTL_MS, openMax)
    if (!stored) {
      throw new PublicError('rate_limited', `${openMax} top-ups are open; pay one or let one expire`, {
        retryAfterSeconds: OPEN_RETRY_S,
      })
    }
    const expiresAt = new Date(stored.expiresAtMs)
    return { ...row, expiresAt, createdAt: new Date(stored.expiresAtMs - INTENT_TTL_MS) }
  }
}

/** Plain decimal digits with at most six decimals, since micro-USD is the smallest unit; refused, never rounded. */
function parseAmount(text: string, maxMicro: bigint): bigint {
  const usdMicro = microFromUsdText(text)
  if (usdMicro === null) {
    throw new PublicError('bad_request', '"amount" must be a plain decimal USD amount with at most 6 decimals, as "10"')
  }
  if (usdMicro < MIN_TOPUP_MICRO) throw new PublicError('bad_request', '"amount" must be at least 1 USD')
  if (usdMicro > maxMicro) throw new PublicError('bad_request', `"amount" must be at most ${maxMicro / 1_000_000n} USD`)
  return usdMicro
}

async function askTreasury(bus: Bus) {
  const state = await bus.call(treasuryAsk, {}, CHAIN_DEADLINE)
  if (state.status === 'ok') return state
  if (state.status === 'misconfigured') {
    throw new PublicError('service_misconfigured', 'payments are not set up on this deployment', {
      cause: new Error(state.reason),
    })
  }
  throw chainAway(state.reason)
}

/** A recent blockhash to build the payment against; it goes stale within a minute. */
export async function freshBlockhash(bus: Bus): Promise<Pick<IntentRow, 'blockhash' | 'lastValidBlockHeight'>> {
  const reply = await bus.call(blockhashAsk, {}, CHAIN_DEADLINE)
  if (reply.status !== 'ok') throw chainAway(reply.reason)
  return { blockhash: reply.blockhash, lastValidBlockHeight: reply.lastValidBlockHeight }
}

export function chainAway(reason: string): PublicError {
  return new PublicError('service_unavailable', 'the chain can not be reached now; try again shortly', {
    retryAfterSeconds: RETRY_S,
    cause: new Error(reason),
  })
}
