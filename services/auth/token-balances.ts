import type { Bus } from '@tollgate/bus'
import { tokenBalance } from '@tollgate/contracts'

/** Shown, never decided by: a balance this old is good enough … */
const FRESH_MS = 15_000
/** … and nobody waits longer for a newer one. */
const WAIT_MS = 300
/** The question goes on after that, so that the next caller finds its answer. */
const ASK_MS = 2_000
const WALLETS_MAX = 10_000

export interface TokenBalances {
  /** Payment tokens of a wallet in UI units; the last known, or 0, while the chain can't be asked. Never throws. */
  of(wallet: string): Promise<number>
}

interface Known {
  balance: number
  atMs: number
}

export function tokenBalances(bus: Pick<Bus, 'call'>, now: () => number = Date.now): TokenBalances {
  const known = new Map<string, Known>()
  const asking = new Map<string, Promise<void>>()

  async function refresh(wallet: string): Promise<void> {
    try {
      const answer = await bus.call(tokenBalance, { wallet }, { deadlineMs: ASK_MS, attemptMs: ASK_MS })
      if (answer.status === 'ok') remember(wallet, uiUnits(answer.balanceRaw, answer.decimals))
    } catch {
      // The bus reports its faults itself; here it only means that the balance stays what it was.
    }
  }

  /** One question at a time for a wallet, however many callers want its answer. */
  function ask(wallet: string): Promise<void> {
    const asked = asking.get(wallet)
    if (asked) return asked
    const answer = refresh(wallet).finally(() => asking.delete(wallet))
    asking.set(wallet, answer)
    return answer
  }

  function remember(wallet: string, balance: number): void {
    known.delete(wallet)
    known.set(wallet, { balance, atMs: now() })
    const [oldest] = known.keys()
    if (known.size > WALLETS_MAX && oldest !== undefined) known.delete(oldest)
  }

  return {
    async of(wallet) {
      const last = known.get(wallet)
      if (last && now() - last.atMs < FRESH_MS) return last.balance
      await Promise.race([ask(wallet), Bun.sleep(WAIT_MS)])
      return known.get(wallet)?.balance ?? 0
    },
  }
}

/** Base units as the nearest number of UI units: shown only. */
export function uiUnits(raw: bigint, decimals: number): number {
  const digits = raw.toString().padStart(decimals + 1, '0')
  const whole = digits.length - decimals
  return Number(`${digits.slice(0, whole)}.${digits.slice(whole) || '0'}`)
}
