import bs58 from 'bs58'
import type { TransactionMetadata } from 'litesvm'
import type { AccountState, Bank, BlockContext } from './bank.ts'
import { transactionFee } from './fee.ts'
import type { InnerInstructions, TransactionRecord } from './ledger.ts'
import { memoOf } from './memo.ts'
import {
  allKeys,
  type DecodedTransaction,
  isWritable,
  type LoadedAddresses,
  resolveLookups,
  signatureOf,
} from './message.ts'
import { tokenBalances } from './token-balances.ts'
import type { TransactionError } from './transaction-error.ts'

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const NOTHING_LOADED: LoadedAddresses = { writable: [], readonly: [] }

export type Execution = {
  err: TransactionError | null
  /** Null when the transaction was refused before it ran, so that it leaves no trace on the chain. */
  record: TransactionRecord | null
  /** The accounts it changed, as they were and as they are. */
  before: AccountState[]
  after: AccountState[]
}

/** Runs a transaction and writes down what a node's transaction metadata tells of it. */
export function execute(bank: Bank, transaction: DecodedTransaction, context: BlockContext): Execution {
  const { message } = transaction
  const loaded = loadedAddresses(bank, transaction)
  const keys = allKeys(message, loaded)
  const fee = transactionFee(message)
  const pre = snapshot(bank, keys, message.instructions)

  const { err, meta } = bank.execute(transaction, context)

  const post = snapshot(bank, keys, message.instructions)
  // LiteSVM does not say whether a failed transaction got as far as running; only one that did has paid.
  const landed = err === null || (pre.balances[0] ?? 0) > (post.balances[0] ?? 0)
  if (!landed) return { err, record: null, before: [], after: [] }

  const changed = keys.filter(
    (key, index) => isWritable(message, loaded, index) && !sameAccount(pre.account(key), post.account(key)),
  )
  return {
    err,
    before: changed.map(key => pre.account(key) ?? gone(key)),
    after: changed.map(key => post.account(key) ?? gone(key)),
    record: {
      signature: signatureOf(transaction),
      slot: context.slot,
      timeSec: context.timeSec,
      wire: Buffer.from(transaction.wire).toString('base64'),
      err,
      fee,
      computeUnits: Number(meta.computeUnitsConsumed()),
      logs: meta.logs(),
      inner: innerInstructions(meta),
      preBalances: pre.balances,
      postBalances: post.balances,
      preTokenBalances: tokenBalances(keys, pre.account),
      postTokenBalances: tokenBalances(keys, post.account),
      loaded,
      returnData: returnData(meta),
      keys,
      memo: memoOf(message),
    },
  }
}

/** The addresses a transaction loads from tables; none where a table is missing, and the runtime refuses it then. */
export function loadedAddresses(bank: Bank, { message }: DecodedTransaction): LoadedAddresses {
  return resolveLookups(message, address => bank.account(address)?.data ?? null) ?? NOTHING_LOADED
}

export function innerInstructions(meta: TransactionMetadata): InnerInstructions[] {
  return meta
    .innerInstructions()
    .map((instructions, index) => ({
      index,
      instructions: instructions.map(inner => ({
        programIdIndex: inner.instruction().programIdIndex(),
        accounts: [...inner.instruction().accounts()],
        data: bs58.encode(inner.instruction().data()),
        stackHeight: inner.stackHeight(),
      })),
    }))
    .filter(({ instructions }) => instructions.length > 0)
}

export function returnData(meta: TransactionMetadata): TransactionRecord['returnData'] {
  const returned = meta.returnData()
  if (returned.data().length === 0) return null
  return { programId: bs58.encode(returned.programId()), data: Buffer.from(returned.data()).toString('base64') }
}

type Snapshot = { balances: number[]; account: (address: string) => AccountState | null }

/** Reads every account now, except the invoked programs: their code is large and does not change. */
function snapshot(bank: Bank, keys: string[], instructions: { programIdIndex: number }[]): Snapshot {
  const programs = new Set(instructions.map(({ programIdIndex }) => programIdIndex))
  const accounts = new Map<string, AccountState | null>()
  for (const [index, key] of keys.entries()) if (!programs.has(index)) accounts.set(key, bank.account(key))
  return {
    balances: keys.map(key => bank.lamports(key)),
    // A mint need not be among the keys, yet its decimals belong to a balance; they never change.
    account: address => accounts.get(address) ?? (keys.includes(address) ? null : bank.account(address)),
  }
}

function sameAccount(one: AccountState | null, other: AccountState | null): boolean {
  if (one === null || other === null) return one === other
  return one.lamports === other.lamports && one.owner === other.owner && Buffer.compare(one.data, other.data) === 0
}

function gone(address: string): AccountState {
  return { address, owner: SYSTEM_PROGRAM, lamports: 0n, data: new Uint8Array(), executable: false }
}
