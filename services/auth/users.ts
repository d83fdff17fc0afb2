import type { Bus } from '@tollgate/bus'
import { type AccountId, ledger, type User as UserSchema, usdFromMicro, type WireOf } from '@tollgate/contracts'
import type { KnownUser } from './store.ts'
import type { TokenBalances } from './token-balances.ts'

export type User = WireOf<typeof UserSchema>

/** Everyone pays the listed price: there is one tier (interface.md, "What the service does" 3). */
const TIER = { tier: 'standard', tierLabel: 'Standard' } as const
const BALANCE_DEADLINE_MS = 2_000

export type ShowUser = (user: KnownUser) => Promise<User>

/**
 * A user as callers see it (interface.md, "User"). Credits are the ledger's word: without it this throws `BusFault`, since a
 * made-up balance is worse than none. Tokens are shown as they are known.
 */
export function userView(bus: Pick<Bus, 'call'>, tokens: TokenBalances): ShowUser {
  const postedMicro = async (account: AccountId) =>
    (await bus.call(ledger.balance, { account }, { deadlineMs: BALANCE_DEADLINE_MS })).postedMicro

  return async ({ id, wallet, account }) => {
    const [creditsMicro, tokenBalance] = await Promise.all([postedMicro(account), tokens.of(wallet)])
    return {
      id,
      wallet,
      ...TIER,
      tokenBalance,
      creditsMicro: Number(creditsMicro),
      creditsUsd: usdFromMicro(creditsMicro),
    }
  }
}
