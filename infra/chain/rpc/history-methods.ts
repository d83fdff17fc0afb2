import { encodeTransaction, type TransactionEncoding } from '../encoding/transaction.ts'
import type { Chain } from '../state/chain.ts'
import type { TransactionRecord } from '../state/ledger.ts'
import { decodeTransaction } from '../state/message.ts'
import { atLeastConfirmed, type View } from './commitment.ts'
import type { Methods, Node } from './methods.ts'
import { addressAt, listAt, oneOf, optionalInteger, optionsAt, signatureAt } from './params.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'

const MAX_STATUSES = 256
const MAX_SIGNATURES = 1_000
/** Without searchTransactionHistory a node answers from a cache of about this many slots. */
const STATUS_CACHE_SLOTS = 300

/** What a node says about landed transactions. */
export const historyMethods: Methods = {
  getSignatureStatuses: ({ chain, view, faults }, params) => {
    const wholeHistory = optionsAt(params, 1).searchTransactionHistory === true
    const oldest = wholeHistory ? 0 : view.slot('processed') - STATUS_CACHE_SLOTS
    const signatures = listAt(params, 0, MAX_STATUSES)
    return {
      context: view.context('processed'),
      value: signatures.map((_, index) => {
        const record = chain.ledger.get(signatureAt(signatures, index))
        const hidden =
          record === null || record.slot < oldest || faults.settings.hiddenSignatures.includes(record.signature)
        return hidden ? null : signatureStatus(record, view)
      }),
    }
  },

  getSignaturesForAddress: (node, params) => {
    const { chain, view, faults } = node
    const options = optionsAt(params, 1)
    const commitment = atLeastConfirmed(options, view)
    const limit = optionalInteger(options.limit) ?? MAX_SIGNATURES
    if (limit === 0 || limit > MAX_SIGNATURES) throw invalidParams(`Invalid limit; max ${MAX_SIGNATURES}`)
    const before = positionOf(chain, options.before)
    // A node answers nothing for a `before` that it does not know, and ignores such an `until`.
    if (before === 'unknown') return []
    const until = positionOf(chain, options.until)
    const page: TransactionRecord[] = []
    for (const record of newestFirst(chain.ledger.history(addressAt(params, 0)))) {
      const position = chain.ledger.position(record.signature) ?? 0
      if (page.length === limit || (typeof until === 'number' && position <= until)) break
      if (before !== null && position >= before) continue
      if (view.has(record, commitment) && !faults.settings.hiddenSignatures.includes(record.signature))
        page.push(record)
    }
    return (faults.settings.reorderSignatures ? swapNeighbours(page) : page).map(record => listing(record, node))
  },

  getTransaction: ({ chain, view, faults }, params) => {
    const signature = signatureAt(params, 0)
    const options = typeof params[1] === 'string' ? { encoding: params[1] } : optionsAt(params, 1)
    const encoding: TransactionEncoding = oneOf(options.encoding, ['json', 'jsonParsed', 'base58', 'base64'], 'json')
    const newestVersion = optionalInteger(options.maxSupportedTransactionVersion)
    const commitment = atLeastConfirmed(options, view)
    const record = chain.ledger.get(signature)
    if (record === null || !view.has(record, commitment) || faults.withholds(signature)) return null
    const transaction = decodeTransaction(Buffer.from(record.wire, 'base64'))
    const { version } = transaction.message
    if (faults.settings.unsupportedVersion) throw unsupportedVersion((newestVersion ?? 0) + 1)
    if (version !== 'legacy' && version > (newestVersion ?? -1)) throw unsupportedVersion(version)
    const encoded = encodeTransaction(record, transaction, { encoding, withVersion: newestVersion !== null })
    return faults.settings.nullBlockTime ? { ...encoded, blockTime: null } : encoded
  },
}

/** Where a signature lies in the chain's order; null when the option is absent. */
function positionOf(chain: Chain, signature: unknown): number | 'unknown' | null {
  if (signature === undefined || signature === null) return null
  return chain.ledger.position(signatureAt([signature], 0)) ?? 'unknown'
}

function* newestFirst<T>(items: readonly T[]): Generator<T> {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index]
    if (item !== undefined) yield item
  }
}

function signatureStatus(record: TransactionRecord, view: View) {
  const confirmationStatus = view.commitmentOf(record)
  if (confirmationStatus === null) return null
  const { slot, err } = record
  return {
    slot,
    confirmations: confirmationStatus === 'finalized' ? null : view.slot('processed') - slot,
    err,
    status: err === null ? { Ok: null } : { Err: err },
    confirmationStatus,
  }
}

function listing(record: TransactionRecord, { view, faults }: Node) {
  return {
    signature: record.signature,
    slot: record.slot,
    err: record.err,
    memo: record.memo,
    blockTime: faults.settings.nullBlockTime ? null : record.timeSec,
    confirmationStatus: view.commitmentOf(record),
  }
}

function unsupportedVersion(version: number): RpcError {
  return new RpcError(
    RPC_CODES.unsupportedVersion,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with ` +
      `the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  )
}

/** Real nodes do not promise an order within a slot; swapping neighbours is the mildest form of that. */
function swapNeighbours<T>(items: T[]): T[] {
  return items.flatMap((_, index) => (index % 2 === 0 ? items.slice(index, index + 2).toReversed() : []))
}
