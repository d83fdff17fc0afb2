import type { Chain, Commitment } from './chain.ts'
import { receiptOf, type SeenPayment, type Target } from './payment.ts'
import { RpcRefusal } from './rpc/faults.ts'
import { readTransaction, Undecodable } from './transaction.ts'

/** What one look at a transaction found. `absent`: the node does not have it (yet). `unreadable`: we can't read it (yet). */
export type Examined =
  | { status: 'paid'; payment: SeenPayment }
  | { status: 'nothing' }
  | { status: 'absent' }
  | { status: 'unreadable'; reason: string }

export interface ExamineOptions {
  network: string
  target: Target
  /** How deep a payment must be to be credited. */
  settledAt: Commitment
}

export type Examine = (signature: string, commitment: Commitment, deadlineMs?: number) => Promise<Examined>

/** Reads a transaction and says what it paid us. Throws `RpcUnavailable` when no node answers. */
export function examiner(chain: Chain, { network, target, settledAt }: ExamineOptions): Examine {
  return async (signature, commitment, deadlineMs) => {
    try {
      const answer = await chain.transaction(signature, commitment, deadlineMs)
      if (answer === null) return { status: 'absent' }
      const receipt = receiptOf(readTransaction(answer), target)
      if (!receipt) return { status: 'nothing' }
      const blockTimeMs = receipt.blockTimeMs ?? (await blockTimeMsOf(receipt.slot))
      const settled = commitment === 'finalized' || settledAt === 'confirmed'
      const { mint, treasury } = target
      const payment = {
        v: 1 as const,
        network,
        signature,
        commitment,
        settled,
        mint,
        treasury,
        ...receipt,
        blockTimeMs,
      }
      return { status: 'paid', payment }
    } catch (fault) {
      // A refusal (-32015: a transaction format of tomorrow) concerns this transaction alone: the scan goes on.
      if (fault instanceof Undecodable || fault instanceof RpcRefusal) {
        return { status: 'unreadable', reason: fault.message }
      }
      throw fault
    }
  }

  async function blockTimeMsOf(slot: number): Promise<number | null> {
    try {
      const seconds = await chain.blockTime(slot)
      return seconds === null ? null : seconds * 1_000
    } catch (fault) {
      if (fault instanceof RpcRefusal) return null
      throw fault
    }
  }
}
