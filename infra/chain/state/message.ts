import { AddressLookupTableAccount, VersionedMessage, VersionedTransaction } from '@solana/web3.js'
import bs58 from 'bs58'

/** An instruction whose accounts are indexes into the transaction's full key list. */
export type CompiledInstruction = { programIdIndex: number; accounts: number[]; data: Uint8Array }

type TableLookup = { accountKey: string; writableIndexes: number[]; readonlyIndexes: number[] }

export type LoadedAddresses = { writable: string[]; readonly: string[] }

/** A version 1 transaction states its limits in the message instead of in compute-budget instructions. */
type TransactionConfig = {
  computeUnitLimit: number | null
  heapSize: number | null
  loadedAccountsDataSizeLimit: number | null
  /** Lamports for the whole transaction, not a price per compute unit. */
  priorityFee: number | null
}

export type Message = {
  version: 'legacy' | 0 | 1
  header: { numRequiredSignatures: number; numReadonlySignedAccounts: number; numReadonlyUnsignedAccounts: number }
  staticKeys: string[]
  recentBlockhash: string
  instructions: CompiledInstruction[]
  lookups: TableLookup[]
  config: TransactionConfig | null
}

export type DecodedTransaction = { wire: Uint8Array; signatures: string[]; message: Message }

/** Decodes a legacy, v0 or v1 transaction; throws on bytes that are none of them. */
export function decodeTransaction(wire: Uint8Array): DecodedTransaction {
  const { signatures, message } = VersionedTransaction.deserialize(wire)
  return { wire, signatures: signatures.map(signature => bs58.encode(signature)), message: readMessage(message) }
}

/** Decodes the part of a transaction that is signed; throws on bytes that are none. */
export function decodeMessage(bytes: Uint8Array): Message {
  return readMessage(VersionedMessage.deserialize(bytes))
}

function readMessage(message: VersionedMessage): Message {
  return {
    version: message.version,
    header: message.header,
    staticKeys: message.staticAccountKeys.map(key => key.toBase58()),
    recentBlockhash: message.recentBlockhash,
    instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      programIdIndex,
      accounts: [...accountKeyIndexes],
      data,
    })),
    lookups: message.addressTableLookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
      accountKey: accountKey.toBase58(),
      writableIndexes: [...writableIndexes],
      readonlyIndexes: [...readonlyIndexes],
    })),
    config: 'transactionConfig' in message ? message.transactionConfig : null,
  }
}

/** A transaction's id is its first signature. */
export function signatureOf(transaction: DecodedTransaction): string {
  const [signature] = transaction.signatures
  if (signature === undefined) throw new Error('A transaction carries at least one signature')
  return signature
}

/**
 * Addresses a v0 message takes from lookup tables, in the order the runtime appends them to the static keys.
 * Null when a table is missing or too short: the runtime then refuses the transaction itself.
 */
export function resolveLookups(
  message: Message,
  tableData: (address: string) => Uint8Array | null,
): LoadedAddresses | null {
  const loaded: LoadedAddresses = { writable: [], readonly: [] }
  for (const lookup of message.lookups) {
    const data = tableData(lookup.accountKey)
    if (data === null) return null
    const { addresses } = AddressLookupTableAccount.deserialize(data)
    const pick = (indexes: number[]) => indexes.map(index => addresses[index]?.toBase58())
    for (const [side, indexes] of [
      ['writable', lookup.writableIndexes],
      ['readonly', lookup.readonlyIndexes],
    ] as const) {
      for (const address of pick(indexes)) {
        if (address === undefined) return null
        loaded[side].push(address)
      }
    }
  }
  return loaded
}

/** Static keys, then the loaded writable ones, then the loaded read-only ones: what every account index refers to. */
export function allKeys(message: Message, loaded: LoadedAddresses): string[] {
  return [...message.staticKeys, ...loaded.writable, ...loaded.readonly]
}

export function isSigner(message: Message, index: number): boolean {
  return index < message.header.numRequiredSignatures
}

/** Whether the transaction may write an account: the header's word, except for programs it invokes. */
export function isWritable(message: Message, loaded: LoadedAddresses, index: number): boolean {
  const { numRequiredSignatures, numReadonlySignedAccounts, numReadonlyUnsignedAccounts } = message.header
  if (message.instructions.some(instruction => instruction.programIdIndex === index)) return false
  const staticCount = message.staticKeys.length
  if (index >= staticCount) return index < staticCount + loaded.writable.length
  if (index < numRequiredSignatures) return index < numRequiredSignatures - numReadonlySignedAccounts
  return index < staticCount - numReadonlyUnsignedAccounts
}

const ABSENT_SIGNATURE = '1'.repeat(64)

/** Whether every required signature is present; 64 zero bytes stand for one that is missing. */
export function isFullySigned({ signatures }: DecodedTransaction): boolean {
  return !signatures.includes(ABSENT_SIGNATURE)
}
