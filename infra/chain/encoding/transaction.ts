import bs58 from 'bs58'
import type { InnerInstructions, TokenBalance, TransactionRecord } from '../state/ledger.ts'
import {
  type CompiledInstruction,
  type DecodedTransaction,
  isSigner,
  isWritable,
  type LoadedAddresses,
} from '../state/message.ts'
import { encodeParsedInstruction } from './instruction.ts'
import { uiTokenAmount } from './token-amount.ts'

export type TransactionEncoding = 'base58' | 'base64' | 'json' | 'jsonParsed'

const TOP_LEVEL = 1

/** A landed transaction as getTransaction answers it. `version` is left out for clients that did not ask for one. */
export function encodeTransaction(
  record: TransactionRecord,
  transaction: DecodedTransaction,
  options: { encoding: TransactionEncoding; withVersion: boolean },
) {
  return {
    slot: record.slot,
    blockTime: record.timeSec,
    transaction: encodeBody(transaction, record, options.encoding),
    meta: encodeMeta(record, options.encoding),
    ...(options.withVersion && { version: transaction.message.version }),
  }
}

function encodeBody(transaction: DecodedTransaction, record: TransactionRecord, encoding: TransactionEncoding) {
  if (encoding === 'base64') return [record.wire, encoding]
  if (encoding === 'base58') return [bs58.encode(transaction.wire), encoding]
  const { signatures } = transaction
  const message = encoding === 'json' ? rawMessage(transaction) : parsedMessage(transaction, record)
  return { signatures, message: { ...message, ...versionFields(transaction) } }
}

function rawMessage({ message }: DecodedTransaction) {
  return {
    header: message.header,
    accountKeys: message.staticKeys,
    recentBlockhash: message.recentBlockhash,
    instructions: message.instructions.map(({ programIdIndex, accounts, data }) => ({
      programIdIndex,
      accounts,
      data: bs58.encode(data),
      stackHeight: TOP_LEVEL,
    })),
  }
}

function parsedMessage({ message }: DecodedTransaction, { keys, loaded }: TransactionRecord) {
  return {
    accountKeys: keys.map((pubkey, index) => ({
      pubkey,
      signer: isSigner(message, index),
      writable: isWritable(message, loaded, index),
      source: index < message.staticKeys.length ? 'transaction' : 'lookupTable',
    })),
    recentBlockhash: message.recentBlockhash,
    instructions: message.instructions.map(instruction => encodeParsedInstruction(instruction, keys, TOP_LEVEL)),
  }
}

function versionFields({ message }: DecodedTransaction) {
  if (message.version === 'legacy') return {}
  return message.version === 0 ? { addressTableLookups: message.lookups } : { transactionConfig: message.config }
}

function encodeMeta(record: TransactionRecord, encoding: TransactionEncoding) {
  const { err, loaded } = record
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee: record.fee,
    preBalances: record.preBalances,
    postBalances: record.postBalances,
    innerInstructions: encodeInner(record.inner, encoding === 'jsonParsed' ? record.keys : null),
    logMessages: record.logs,
    preTokenBalances: record.preTokenBalances.map(encodeTokenBalance),
    postTokenBalances: record.postTokenBalances.map(encodeTokenBalance),
    rewards: [],
    // jsonParsed lists loaded addresses among the account keys instead.
    ...(encoding !== 'jsonParsed' && { loadedAddresses: loaded satisfies LoadedAddresses }),
    ...(record.returnData && { returnData: encodeReturnData(record.returnData) }),
    computeUnitsConsumed: record.computeUnits,
  }
}

/** Inner instructions with indexes, or parsed when the keys they index are given. */
export function encodeInner(inner: InnerInstructions[], keys: string[] | null) {
  if (keys === null) return inner
  return inner.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map(({ data, stackHeight, ...rest }) => {
      const compiled: CompiledInstruction = { ...rest, data: bs58.decode(data) }
      return encodeParsedInstruction(compiled, keys, stackHeight)
    }),
  }))
}

export function encodeReturnData({ programId, data }: { programId: string; data: string }) {
  return { programId, data: [data, 'base64'] }
}

function encodeTokenBalance({ amountRaw, decimals, ...balance }: TokenBalance) {
  return { ...balance, uiTokenAmount: uiTokenAmount(BigInt(amountRaw), decimals) }
}
