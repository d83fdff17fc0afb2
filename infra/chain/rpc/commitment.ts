import type { Chain } from '../state/chain.ts'
import type { TransactionRecord } from '../state/ledger.ts'
import type { Options } from './params.ts'
import { oneOf } from './params.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'

export const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const

export type Commitment = (typeof COMMITMENTS)[number]

/** How many further slots a block needs until it counts as confirmed, and as finalized. */
export type Depths = { confirmed: number; finalized: number }

/** What this node shows of the chain: how deep a commitment lies, and how far the node lags behind. */
export class View {
  readonly #chain: Chain
  readonly #depths: Depths
  readonly #lagSlots: () => number

  constructor(chain: Chain, depths: Depths, lagSlots: () => number) {
    this.#chain = chain
    this.#depths = depths
    this.#lagSlots = lagSlots
  }

  /** The newest slot that has reached a commitment. */
  slot(commitment: Commitment): number {
    const depth = commitment === 'processed' ? 0 : this.#depths[commitment]
    return Math.max(0, this.#chain.clock.slot() - this.#lagSlots() - depth)
  }

  has(record: TransactionRecord, commitment: Commitment): boolean {
    return record.slot <= this.slot(commitment)
  }

  /** The highest commitment a transaction has reached, or null while the node has not even seen it. */
  commitmentOf(record: TransactionRecord): Commitment | null {
    return COMMITMENTS.toReversed().find(commitment => this.has(record, commitment)) ?? null
  }

  context(commitment: Commitment) {
    return { slot: this.slot(commitment), apiVersion: API_VERSION }
  }
}

/** The Agave line that LiteSVM's runtime is built from. */
export const API_VERSION = '4.2.0'

/** The commitment of a call's options; throws when the node has not reached its `minContextSlot`. */
export function commitmentOf(options: Options, view: View): Commitment {
  const commitment = oneOf(options.commitment, COMMITMENTS, 'finalized')
  const contextSlot = view.slot(commitment)
  if (typeof options.minContextSlot === 'number' && options.minContextSlot > contextSlot) {
    throw new RpcError(RPC_CODES.minContextSlot, 'Minimum context slot has not been reached', { contextSlot })
  }
  return commitment
}

/** Methods over landed transactions refuse `processed`, as real nodes do. */
export function atLeastConfirmed(options: Options, view: View): Commitment {
  const commitment = commitmentOf(options, view)
  if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`')
  return commitment
}
