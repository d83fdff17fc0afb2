import { BLOCKHASH_WINDOW } from '../state/blockhashes.ts'
import { transactionFee } from '../state/fee.ts'
import { decodeMessage } from '../state/message.ts'
import { blockHeight, epochOf, SLOTS_PER_EPOCH } from '../state/slot-clock.ts'
import { API_VERSION, commitmentOf } from './commitment.ts'
import type { Methods } from './methods.ts'
import { integerAt, optionsAt, textAt } from './params.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'

/** Agave answers for the last 150 blocks. */
const PRIORITIZATION_SLOTS = 150

/** What a node says about itself, its slots and its blockhashes. */
export const clusterMethods: Methods = {
  getGenesisHash: ({ chain }) => chain.genesis.genesisHash,

  getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': 0 }),

  getHealth: ({ faults }) => {
    const { lagSlots } = faults.settings
    if (lagSlots === 0) return 'ok'
    throw new RpcError(RPC_CODES.nodeUnhealthy, `Node is behind by ${lagSlots} slots`, { numSlotsBehind: lagSlots })
  },

  getSlot: ({ view }, params) => view.slot(commitmentOf(optionsAt(params, 0), view)),

  getBlockHeight: ({ view }, params) => blockHeight(view.slot(commitmentOf(optionsAt(params, 0), view))),

  getEpochInfo: ({ chain, view }, params) => {
    const slot = view.slot(commitmentOf(optionsAt(params, 0), view))
    return {
      absoluteSlot: slot,
      blockHeight: blockHeight(slot),
      epoch: epochOf(slot),
      slotIndex: slot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      transactionCount: chain.ledger.count,
    }
  },

  getBlockTime: ({ chain, view, faults }, params) => {
    const slot = integerAt(params, 0)
    if (slot > view.slot('processed')) {
      throw new RpcError(RPC_CODES.blockNotAvailable, `Block not available for slot ${slot}`)
    }
    if (faults.settings.nullBlockTime) return null
    return chain.ledger.timeOf(slot) ?? chain.clock.timeSecOf(slot)
  },

  getLatestBlockhash: ({ chain, view }, params) => {
    const commitment = commitmentOf(optionsAt(params, 0), view)
    const slot = view.slot(commitment)
    return {
      context: view.context(commitment),
      value: { blockhash: chain.blockhashes.at(slot), lastValidBlockHeight: blockHeight(slot) + BLOCKHASH_WINDOW },
    }
  },

  isBlockhashValid: ({ chain, view }, params) => {
    const commitment = commitmentOf(optionsAt(params, 1), view)
    return {
      context: view.context(commitment),
      value: chain.blockhashes.isValid(textAt(params, 0), view.slot(commitment)),
    }
  },

  getFeeForMessage: ({ chain, view }, params) => {
    const commitment = commitmentOf(optionsAt(params, 1), view)
    let message: ReturnType<typeof decodeMessage>
    try {
      message = decodeMessage(Buffer.from(textAt(params, 0), 'base64'))
    } catch {
      throw invalidParams('failed to deserialize the message')
    }
    const known = chain.blockhashes.isValid(message.recentBlockhash, view.slot('processed'))
    return { context: view.context(commitment), value: known ? transactionFee(message) : null }
  },

  getRecentPrioritizationFees: ({ view }) => {
    const newest = view.slot('processed')
    const slots = Array.from({ length: PRIORITIZATION_SLOTS }, (_, index) => newest - PRIORITIZATION_SLOTS + 1 + index)
    return slots.map(slot => ({ slot, prioritizationFee: 0 }))
  },
}
