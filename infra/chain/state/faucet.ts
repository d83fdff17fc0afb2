import {
  ComputeBudgetProgram,
  type PublicKey,
  type Signer,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js'
import { BLOCKHASH_WINDOW } from './blockhashes.ts'
import type { Chain } from './chain.ts'
import { decodeTransaction } from './message.ts'
import { blockHeight } from './slot-clock.ts'
import { wallet } from './wallet.ts'

const UNITS = 200_000
const UNIT_VARIANTS = 1_000_000

/** Sends lamports from the faucet and answers the transaction's signature. Throws when the faucet is short. */
export function airdrop(chain: Chain, to: PublicKey, lamports: number): string {
  const faucet = wallet(chain.genesis.secretKeys.faucet)
  const transfer = SystemProgram.transfer({ fromPubkey: faucet.publicKey, toPubkey: to, lamports })
  // Two equal airdrops within one slot would be the same transaction; an ever different unit limit tells them apart.
  const unique = ComputeBudgetProgram.setComputeUnitLimit({ units: UNITS + (chain.ledger.count % UNIT_VARIANTS) })
  return submitSigned(chain, [unique, transfer], [faucet])
}

/** Signs with the first signer as fee payer, and runs; throws with the error's JSON when it does not succeed. */
export function submitSigned(
  chain: Chain,
  instructions: TransactionInstruction[],
  signers: [Signer, ...Signer[]],
): string {
  const slot = chain.clock.slot()
  const transaction = new Transaction({
    feePayer: signers[0].publicKey,
    blockhash: chain.blockhashes.at(slot),
    lastValidBlockHeight: blockHeight(slot) + BLOCKHASH_WINDOW,
  })
  transaction.add(...instructions).sign(...signers)
  const { err, record } = chain.submit(decodeTransaction(transaction.serialize()))
  if (err !== null || record === null) throw new Error(`The chain's own transaction failed: ${JSON.stringify(err)}`)
  return record.signature
}
