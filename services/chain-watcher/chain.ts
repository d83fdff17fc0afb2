import type { AccountBytes } from './mint.ts'
import {
  AccountInfo,
  AnyTransaction,
  BlockTime,
  GenesisHash,
  LatestBlockhash,
  SentSignature,
  SignatureList,
  SignatureStatuses,
  TokenAccounts,
} from './rpc/answers.ts'
import { RpcRefusal } from './rpc/faults.ts'
import type { Rpc } from './rpc/pool.ts'

export type Commitment = 'confirmed' | 'finalized'

/** A transaction as a node lists it for an account. */
export interface Listed {
  signature: string
  slot: number
  failed: boolean
}

/** As many as a node lists in one answer. */
export const PAGE_LIMIT = 1_000
/** The newest transaction format that we can read. Asking for less would hide v1 transactions (-32015). */
const NEWEST_TRANSACTION_VERSION = 1

/** The questions that we ask of the chain, in our words. */
export type Chain = ReturnType<typeof readChain>

export function readChain(rpc: Rpc) {
  const wait = (deadlineMs?: number) => (deadlineMs === undefined ? {} : { deadlineMs })

  /** What the first node that knows says; null where none does. What one lacks may be a hole in its memory alone. */
  async function anyNode<T>(ask: (first: number) => Promise<T | null>): Promise<T | null> {
    let answer = await ask(0)
    for (let first = 1; answer === null && first < rpc.nodes; first++) {
      answer = await ask(first).catch((fault: unknown) => {
        if (fault instanceof RpcRefusal) return null
        throw fault
      })
    }
    return answer
  }

  return {
    genesisHash: () => rpc.ask('getGenesisHash', [], GenesisHash),

    async latestBlockhash(deadlineMs?: number) {
      const params = [{ commitment: 'confirmed' }]
      return (await rpc.ask('getLatestBlockhash', params, LatestBlockhash, wait(deadlineMs))).value
    },

    /** A page of an account's transactions, newest first. Never trust the order inside a slot. */
    async signatures(address: string, before: string | null, deadlineMs?: number): Promise<Listed[]> {
      const options = { limit: PAGE_LIMIT, commitment: 'confirmed', ...(before !== null && { before }) }
      const listed = await rpc.ask('getSignaturesForAddress', [address, options], SignatureList, wait(deadlineMs))
      return listed.map(({ signature, slot, err }) => ({ signature, slot, failed: err !== null && err !== undefined }))
    },

    /** A node's answer, unread; null while none has the transaction, though one may list it. */
    transaction: (signature: string, commitment: Commitment, deadlineMs?: number): Promise<unknown> => {
      const options = { encoding: 'json', commitment, maxSupportedTransactionVersion: NEWEST_TRANSACTION_VERSION }
      return anyNode(first =>
        rpc.ask('getTransaction', [signature, options], AnyTransaction, { ...wait(deadlineMs), first }),
      )
    },

    /** How deep each transaction is, without those that no node knows. At most 256 at once. */
    async depths(signatures: readonly string[]): Promise<Map<string, string>> {
      const depths = new Map<string, string>()
      await anyNode(async first => {
        const unknown = signatures.filter(signature => !depths.has(signature))
        const params = [unknown, { searchTransactionHistory: true }]
        const { value } = await rpc.ask('getSignatureStatuses', params, SignatureStatuses, { first })
        unknown.forEach((signature, index) => {
          const depth = value[index]?.confirmationStatus
          if (depth) depths.set(signature, depth)
        })
        return depths.size === signatures.length ? depths : null
      })
      return depths
    },

    /** Seconds since the epoch; null where the node does not know. */
    blockTime: (slot: number) => rpc.ask('getBlockTime', [slot], BlockTime),

    async account(address: string): Promise<AccountBytes | null> {
      const params = [address, { encoding: 'base64', commitment: 'confirmed' }]
      const { value } = await rpc.ask('getAccountInfo', params, AccountInfo)
      return value && { owner: value.owner, data: Buffer.from(value.data[0], 'base64') }
    },

    /** A wallet's accounts of a mint. */
    async tokenAccounts(wallet: string, mint: string, deadlineMs?: number) {
      const params = [wallet, { mint }, { encoding: 'base64', commitment: 'confirmed' }]
      const { value } = await rpc.ask('getTokenAccountsByOwner', params, TokenAccounts, wait(deadlineMs))
      return value.map(({ pubkey, account }) => {
        return { address: pubkey, account: { owner: account.owner, data: Buffer.from(account.data[0], 'base64') } }
      })
    },

    /** Sends a signed transaction; its signature says nothing yet about whether it lands. */
    send: (transaction: Uint8Array) => {
      const params = [Buffer.from(transaction).toString('base64'), { encoding: 'base64' }]
      return rpc.ask('sendTransaction', params, SentSignature)
    },
  }
}
