import type { PayloadOf, paymentSeen } from '@tollgate/contracts'
import { type Transaction, Undecodable } from './transaction.ts'
import { type Transfer, transfersOf } from './transfer.ts'

export type SeenPayment = PayloadOf<typeof paymentSeen>

/** What is paid, and where to. */
export interface Target {
  mint: string
  /** The wallet. */
  treasury: string
  /** Its associated token account. */
  tokenAccount: string
}

/** What a transaction did for us: a positive change of the treasury's balance, and the transfers that explain it. */
export type Receipt = Pick<SeenPayment, 'slot' | 'blockTimeMs' | 'deltaRaw' | 'legs'>

/** As many as the contract takes; a transfer with more accounts than this is no payment of a person. */
const REFERENCES_MAX = 64

/**
 * What the treasury received in this transaction; null when nothing: failed, zero and self-transfers never count. The
 * change of its balance decides, in base units (never `uiAmount`, which some mints scale); transfers corroborate it.
 * Throws `Undecodable` when the node left the balances out.
 */
export function receiptOf(transaction: Transaction, target: Target): Receipt | null {
  if (transaction.failed) return null
  const legs = transaction.instructions.flatMap(transfersOf).filter(transfer => paysTreasury(transfer, target))
  const before = transaction.tokenBalance(target.tokenAccount, 'before')
  const after = transaction.tokenBalance(target.tokenAccount, 'after')
  if (after === null) {
    if (legs.some(leg => leg.amountRaw > 0n)) throw new Undecodable('the answer lists no balance of the treasury')
    return null
  }
  if (after.mint !== target.mint) return null
  // An account created in the transaction has no balance before it.
  const deltaRaw = after.amountRaw - (before?.amountRaw ?? 0n)
  if (deltaRaw <= 0n) return null
  return {
    slot: transaction.slot,
    blockTimeMs: transaction.blockTimeMs,
    deltaRaw,
    legs: legs.map(({ amountRaw, source, extraAccounts }) => ({
      amountRaw,
      source,
      references: [...new Set(extraAccounts)].slice(0, REFERENCES_MAX),
    })),
  }
}

/** A transfer of the treasury to itself moves nothing; one that its own wallet authorises is the operator's, not a payment. */
function paysTreasury(transfer: Transfer, target: Target): boolean {
  return (
    transfer.destination === target.tokenAccount &&
    transfer.source !== target.tokenAccount &&
    transfer.authority !== target.treasury
  )
}
