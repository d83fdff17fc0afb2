import { createAssociatedTokenAccountIdempotentInstruction, TOKEN_2022_PROGRAM_ID } from '@solana/spl-token'
import { Keypair, PublicKey, Transaction } from '@solana/web3.js'
import bs58 from 'bs58'
import type { Chain } from './chain.ts'
import type { Target } from './payment.ts'

/** Creates the treasury's token account at the fee payer's cost. Idempotent on chain; it may take some seconds to show. */
export async function createTokenAccount(chain: Chain, target: Target, feePayerSecretKey: string): Promise<void> {
  const payer = Keypair.fromSecretKey(bs58.decode(feePayerSecretKey))
  const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash()
  const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight }).add(
    createAssociatedTokenAccountIdempotentInstruction(
      payer.publicKey,
      new PublicKey(target.tokenAccount),
      new PublicKey(target.treasury),
      new PublicKey(target.mint),
      TOKEN_2022_PROGRAM_ID,
    ),
  )
  transaction.sign(payer)
  await chain.send(transaction.serialize())
}
