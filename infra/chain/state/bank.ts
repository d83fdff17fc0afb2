import { type Address, getTransactionDecoder, lamports } from '@solana/kit'
import { Clock, FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm'
import type { DecodedTransaction } from './message.ts'
import { type TransactionError, transactionError } from './transaction-error.ts'

export type AccountState = {
  address: string
  owner: string
  lamports: bigint
  data: Uint8Array
  executable: boolean
}

/** The block that the next transaction runs in, as programs see it through the sysvars. */
export type BlockContext = { slot: number; epoch: number; timeSec: number; hashOf: (slot: number) => string }

export type Outcome = { err: TransactionError | null; meta: TransactionMetadata }

/** Programs look a slot hash up among this many (address lookup tables do). */
const SLOT_HASHES = 512

/** Addresses come as base58 text that `params.ts` or a decoded transaction has checked; kit only brands them. */
const branded = (address: string) => address as Address

/**
 * LiteSVM: the accounts, and the real programs that change them. Its own blockhash check and history are off: it
 * knows only one blockhash and forgets transactions on a restart, so the chain keeps both.
 */
export class Bank {
  readonly #svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n)
  #preparedSlot = -1

  account(address: string): AccountState | null {
    const account = this.#svm.getAccount(branded(address))
    if (!account.exists) return null
    const { programAddress: owner, lamports: amount, data, executable } = account
    return { address, owner, lamports: amount, data: new Uint8Array(data), executable }
  }

  lamports(address: string): number {
    return Number(this.#svm.getBalance(branded(address)) ?? 0n)
  }

  accountsOwnedBy(program: string): AccountState[] {
    return this.#svm.getProgramAccounts(branded(program)).map(account => ({
      address: account.address,
      owner: program,
      lamports: account.lamports,
      data: new Uint8Array(account.data),
      executable: account.executable,
    }))
  }

  rentExemptMinimum(space: number): number {
    return Number(this.#svm.minimumBalanceForRentExemption(BigInt(space)))
  }

  /** Overwrites accounts outside of any transaction; an account of 0 lamports ceases to exist. */
  write(accounts: AccountState[]): void {
    for (const { address, owner, lamports: amount, data, executable } of accounts) {
      this.#svm.setAccount({
        address: branded(address),
        programAddress: branded(owner),
        lamports: lamports(amount),
        data,
        executable,
        space: BigInt(data.length),
      })
    }
  }

  /** Runs a transaction and keeps its effects; a failed one still pays its fee, if it got as far as running. */
  execute(transaction: DecodedTransaction, context: BlockContext): Outcome {
    this.#prepare(context)
    return outcome(this.#svm.sendTransaction(kitTransaction(transaction)))
  }

  /** Runs a transaction without effects. Post-states come only with success. */
  simulate(
    transaction: DecodedTransaction,
    context: BlockContext,
    verifySignatures: boolean,
  ): Outcome & { accounts: AccountState[] } {
    this.#prepare(context)
    this.#svm.withSigverify(verifySignatures)
    try {
      const result = this.#svm.simulateTransaction(kitTransaction(transaction))
      if (result instanceof FailedTransactionMetadata) return { ...outcome(result), accounts: [] }
      const accounts = result.postAccounts().map(account => ({
        address: account.address,
        owner: account.programAddress,
        lamports: account.lamports,
        data: new Uint8Array(account.data),
        executable: account.executable,
      }))
      return { err: null, meta: result.meta(), accounts }
    } finally {
      this.#svm.withSigverify(true)
    }
  }

  /** Sets the sysvars once a slot, and only for slots in which something runs. */
  #prepare({ slot, epoch, timeSec, hashOf }: BlockContext): void {
    this.#svm.setClock(new Clock(BigInt(slot), 0n, BigInt(epoch), BigInt(epoch + 1), BigInt(timeSec)))
    if (slot === this.#preparedSlot) return
    this.#preparedSlot = slot
    const count = Math.min(SLOT_HASHES, slot)
    const before = Array.from({ length: count }, (_, age) => slot - 1 - age)
    this.#svm.setSlotHashes(before.map(at => ({ slot: BigInt(at), hash: hashOf(at) })))
  }
}

/**
 * LiteSVM takes kit's form and re-encodes it. Kit's decoder refuses nothing that the runtime accepts, and its
 * "fully signed" assertion in front of LiteSVM only looks for absent signatures.
 */
function kitTransaction({ wire }: DecodedTransaction) {
  return getTransactionDecoder().decode(wire)
}

function outcome(result: TransactionMetadata | FailedTransactionMetadata): Outcome {
  if (result instanceof FailedTransactionMetadata) return { err: transactionError(result), meta: result.meta() }
  return { err: null, meta: result }
}
