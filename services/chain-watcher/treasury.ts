import type { ReplyOf, treasury as treasuryAsk } from '@tollgate/contracts'
import type { Log } from '@tollgate/service'
import type { Chain } from './chain.ts'
import { judgeMint } from './mint.ts'
import type { Target } from './payment.ts'
import { parseAddress, tokenAccountOf, treasuryProblem } from './token-account.ts'

export type TreasuryState = ReplyOf<typeof treasuryAsk>

/** The configured mint and treasury, or why they are no use. */
export function targetOf(mintText: string, treasuryText: string): Target | { problem: string } {
  if (mintText === '') return { problem: 'TOKEN_MINT is not set' }
  if (treasuryText === '') return { problem: 'TREASURY is not set' }
  const mint = parseAddress(mintText)
  const treasury = parseAddress(treasuryText)
  if (!mint) return { problem: 'TOKEN_MINT is not an address' }
  if (!treasury) return { problem: 'TREASURY is not an address' }
  return { mint: mintText, treasury: treasuryText, tokenAccount: tokenAccountOf(treasury, mint).toBase58() }
}

export interface TreasuryOptions {
  chain: Chain
  network: string
  target: Target
  log: Log
  /** Creates the treasury's token account, where the operator lets us; null where not. */
  create: (() => Promise<unknown>) | null
}

/** What `chain.treasury` answers. A node that is away changes nothing about what we know of the mint. */
export function treasuryWatch({ chain, network, target, log, create }: TreasuryOptions) {
  const warned = new Set<string>()
  let looking: Promise<void> | null = null
  let state: TreasuryState = { status: 'unavailable', reason: 'the chain was not asked yet' }

  async function judge(): Promise<TreasuryState> {
    const verdict = judgeMint(target.mint, await chain.account(target.mint))
    if (verdict.status === 'refused') return { status: 'misconfigured', reason: verdict.reason }
    const problem = treasuryProblem(target, await chain.account(target.tokenAccount))
    if (problem) return { status: 'misconfigured', reason: problem }
    warn(verdict.warnings)
    return { status: 'ok', network, decimals: verdict.decimals, ...target }
  }

  /** Once for each: the operator takes these risks knowingly. */
  function warn(warnings: readonly string[]): void {
    for (const warning of warnings.filter(fresh => !warned.has(fresh))) {
      warned.add(warning)
      log.warn({ mint: target.mint, warning }, 'the mint carries a risk')
    }
  }

  return {
    get state() {
      return state
    },
    /** What is known; before anything is, the first look is waited for, but not for long. */
    async known(withinMs: number): Promise<TreasuryState> {
      if (state.status === 'unavailable') await Promise.race([refresh().catch(() => undefined), Bun.sleep(withinMs)])
      return state
    },
    /** Looks at the mint and the token account again. Throws when no node answers. */
    refresh,
  }

  async function look(): Promise<void> {
    if (create && (await chain.account(target.tokenAccount)) === null) await create()
    const found = await judge()
    if (JSON.stringify(found) === JSON.stringify(state)) return
    state = found
    if (found.status === 'misconfigured') log.error({ reason: found.reason }, 'payments can not be accepted')
    else log.info({ treasury: found }, 'payments are accepted')
  }

  /** One look at a time: whoever comes meanwhile waits for it. */
  function refresh(): Promise<void> {
    looking ??= look().finally(() => {
      looking = null
    })
    return looking
  }
}
