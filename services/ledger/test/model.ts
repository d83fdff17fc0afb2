import type { Operation, Outcome } from '../operation.ts'

/**
 * The ledger as one would write it with nothing to fear: one thread, maps, no crash. What the real one answers must be
 * what this answers for the same operations in the same order.
 */
export interface Model {
  apply(operation: Operation): Outcome
  balance(account: string): { postedMicro: bigint; heldMicro: bigint }
  /** What the account's charges could not cover, all in all. */
  shortfall(account: string): bigint
  spend(key: string): { spentMicro: bigint; heldMicro: bigint }
  /** Every open hold's time is over. */
  expiriesPass(): void
  /** Every window that ends at some time has ended. */
  windowsPass(): void
}

interface Account {
  posted: bigint
  held: bigint
  shortfall: bigint
}
interface Key {
  cap: bigint | null
  window: string
  over: boolean
  windowNo: number
  spent: bigint
  held: bigint
  lifeSpent: bigint
  lifeHeld: bigint
  closed: boolean
}
interface Hold {
  account: string
  state: 'open' | 'expired' | 'closed'
  key: string | null
  windowNo: number
  granted: bigint
  cost: bigint
  due: boolean
  charged: bigint
  shortfall: bigint
}
type Verdict = Partial<Outcome> & { stored?: boolean }

const least = (a: bigint, b: bigint) => (a < b ? a : b)
const most = (a: bigint, b: bigint) => (a > b ? a : b)

/** What counts against the cap. */
const used = ({ window, spent, held, lifeSpent, lifeHeld }: Key) =>
  window === 'none' ? lifeSpent + lifeHeld : spent + held

export function createModel(): Model {
  const accounts = new Map<string, Account>()
  const keys = new Map<string, Key>()
  const holds = new Map<string, Hold>()
  const answered = new Map<string, { content: string | null; outcome: Outcome }>()

  function accountOf(id: string): Account {
    const account = accounts.get(id) ?? { posted: 0n, held: 0n, shortfall: 0n }
    accounts.set(id, account)
    return account
  }

  function keyOf(id: string): Key {
    const fresh = {
      cap: null,
      window: 'none',
      over: false,
      windowNo: 1,
      spent: 0n,
      held: 0n,
      lifeSpent: 0n,
      lifeHeld: 0n,
      closed: false,
    }
    const key = keys.get(id) ?? fresh
    if (key.over) Object.assign(key, { over: false, windowNo: key.windowNo + 1, spent: 0n, held: 0n })
    keys.set(id, key)
    return key
  }

  /** What the account and the key's cap can still pay for, seen from the window that a hold was granted in. */
  function roomOf(account: Account, keyId: string | null, windowNo?: number): bigint {
    const room = account.posted - account.held
    const key = keyId === null ? null : keyOf(keyId)
    if (key === null || key.cap === null) return room
    if (key.window !== 'none' && windowNo !== undefined && windowNo !== key.windowNo) return least(room, 0n)
    return least(room, most(key.cap - used(key), 0n))
  }

  function charge(hold: Hold, cost: bigint): Verdict {
    const account = accountOf(hold.account)
    const granted = hold.state === 'open' ? hold.granted : 0n
    const amountMicro = least(cost, hold.charged + granted + roomOf(account, hold.key, hold.windowNo))
    const movedMicro = amountMicro - hold.charged
    account.posted -= movedMicro
    free(hold, granted)
    const key = hold.key === null ? null : keyOf(hold.key)
    if (key) key.lifeSpent += movedMicro
    if (key && key.windowNo === hold.windowNo) key.spent += movedMicro
    hold.charged = amountMicro
    const shortfallMicro = cost - amountMicro
    account.shortfall += shortfallMicro - hold.shortfall
    hold.shortfall = shortfallMicro
    return { amountMicro, shortfallMicro }
  }

  function free(hold: Hold, amount: bigint): void {
    accountOf(hold.account).held -= amount
    const key = hold.key === null ? null : keyOf(hold.key)
    if (key) key.lifeHeld -= amount
    if (key && key.windowNo === hold.windowNo) key.held -= amount
  }

  function grant(operation: Operation<'hold'>): Verdict {
    const { id, account: accountId, key: keyId, minMicro, maxMicro } = operation
    const account = accountOf(accountId)
    const key = keyId === null ? null : keyOf(keyId)
    const hold: Hold = {
      account: accountId,
      state: 'closed',
      key: keyId,
      windowNo: key?.windowNo ?? 0,
      granted: 0n,
      cost: 0n,
      due: false,
      charged: 0n,
      shortfall: 0n,
    }
    holds.set(id, hold)
    if (key?.closed) return { outcome: 'key_closed' }
    if (key && key.cap !== null && most(key.cap - used(key), 0n) < minMicro) return { outcome: 'cap_reached' }
    const room = roomOf(account, keyId)
    if (room < minMicro) return { outcome: 'insufficient_credits' }
    hold.granted = minMicro === maxMicro ? maxMicro : least(maxMicro, most(minMicro, room / 2n))
    hold.state = 'open'
    account.held += hold.granted
    if (key) {
      key.held += hold.granted
      key.lifeHeld += hold.granted
    }
    return { amountMicro: hold.granted }
  }

  function setCap(key: Key, { capMicro, window }: Operation<'set_cap'>): void {
    key.cap = capMicro
    if (key.window === window) return
    Object.assign(key, { window, windowNo: key.windowNo + 1, spent: 0n, held: 0n })
  }

  function release(operation: Operation<'release'>, hold: Hold | undefined): Verdict {
    if (hold?.state === 'open') {
      free(hold, hold.granted)
      hold.state = 'closed'
      return { amountMicro: hold.granted }
    }
    if (hold) return { outcome: 'hold_closed' }
    const refused: Outcome = { outcome: 'hold_closed', amountMicro: 0n, shortfallMicro: 0n, availableMicro: 0n }
    answered.set(operation.hold, { content: null, outcome: refused })
    holds.set(operation.hold, {
      account: operation.account,
      state: 'closed',
      key: null,
      windowNo: 0,
      granted: 0n,
      cost: 0n,
      due: false,
      charged: 0n,
      shortfall: 0n,
    })
    return {}
  }

  function keyAtStake(operation: Operation): string | null {
    if ('key' in operation) return operation.key
    const hold = 'hold' in operation ? holds.get(operation.hold) : undefined
    return hold && hold.state !== 'closed' && hold.account === operation.account ? hold.key : null
  }

  function decide(operation: Operation): Verdict {
    const known = 'hold' in operation ? holds.get(operation.hold) : undefined
    const foreign = known !== undefined && known.state !== 'closed' && known.account !== operation.account
    const hold = foreign ? undefined : known
    const refusal = hold ? 'hold_closed' : 'unknown_hold'
    switch (operation.kind) {
      case 'hold':
        return grant(operation)
      case 'extend':
        if (hold?.state !== 'open') return { outcome: refusal, stored: false }
        hold.cost = most(hold.cost, operation.costMicro)
        hold.due = false
        return { stored: false }
      case 'settle': {
        if (!hold || hold.state === 'closed') return { outcome: refusal }
        const verdict = charge(hold, operation.costMicro)
        hold.state = 'closed'
        return verdict
      }
      case 'expire': {
        if (hold?.state !== 'open' || !hold.due) return { outcome: 'skipped', stored: false }
        const verdict = charge(hold, hold.cost)
        hold.state = 'expired'
        return verdict
      }
      case 'release':
        return foreign ? { outcome: 'unknown_hold' } : release(operation, hold)
      case 'credit':
        accountOf(operation.account).posted += operation.amountMicro
        return {}
      case 'adjust': {
        const account = accountOf(operation.account)
        if (account.posted - account.held + operation.amountMicro < 0n) return { outcome: 'insufficient_credits' }
        account.posted += operation.amountMicro
        return {}
      }
      case 'set_cap':
        setCap(keyOf(operation.key), operation)
        return {}
      case 'close_key':
        keyOf(operation.key).closed = true
        return {}
    }
  }

  return {
    apply(operation) {
      const id = operation.kind === 'extend' ? null : operation.id
      const content = JSON.stringify(operation, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
      const before = id === null ? undefined : answered.get(id)
      const { posted, held } = accountOf(operation.account)
      if (before && (before.content === null || before.content === content)) return before.outcome
      if (before) return { outcome: 'id_reused', amountMicro: 0n, shortfallMicro: 0n, availableMicro: posted - held }
      const key = keyAtStake(operation)
      const { stored = true, ...verdict } = decide(operation)
      const outcome: Outcome = {
        outcome: 'done',
        amountMicro: 0n,
        shortfallMicro: 0n,
        availableMicro: roomOf(accountOf(operation.account), key),
        ...verdict,
      }
      if (stored && id !== null) answered.set(id, { content, outcome })
      return outcome
    },
    balance(id) {
      const { posted, held } = accountOf(id)
      return { postedMicro: posted, heldMicro: held }
    },
    shortfall: id => accountOf(id).shortfall,
    spend(id) {
      const { window, spent, held, lifeSpent, lifeHeld } = keyOf(id)
      return window === 'none' ? { spentMicro: lifeSpent, heldMicro: lifeHeld } : { spentMicro: spent, heldMicro: held }
    },
    expiriesPass() {
      for (const hold of holds.values()) hold.due = true
    },
    windowsPass() {
      for (const key of keys.values()) key.over = key.window !== 'none'
    },
  }
}
