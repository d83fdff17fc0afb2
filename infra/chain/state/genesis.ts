import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeMetadataPointerInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import { Keypair, LAMPORTS_PER_SOL, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import type { AccountState } from './bank.ts'
import type { Chain } from './chain.ts'
import { airdrop, submitSigned } from './faucet.ts'
import { newSecretKey, wallet } from './wallet.ts'

/** A chain's identity: what clients see, and the secrets of its wallets (they own nothing but test money). */
export type Genesis = {
  genesisHash: string
  /** Base58 of 64 bytes each. */
  secretKeys: { mint: string; faucet: string; payer: string; treasury: string }
}

export const MINT_DECIMALS = 6

/** All lamports there will ever be stay below 2^53, so that they are exact in a JSON number. */
const FAUCET_SOL = 5_000_000
const PAYER_SOL = 1_000_000
const TREASURY_SOL = 10
const PAYER_TOKENS_RAW = 1_000_000_000n * 10n ** BigInt(MINT_DECIMALS)

/** A fresh chain's identity. Mint and wallets differ each time, so that nobody hard-codes one. */
export function newGenesis(): Genesis {
  return {
    genesisHash: Keypair.generate().publicKey.toBase58(),
    secretKeys: { mint: newSecretKey(), faucet: newSecretKey(), payer: newSecretKey(), treasury: newSecretKey() },
  }
}

/** The only account that exists before the first transaction. */
export function genesisAccounts(genesis: Genesis): AccountState[] {
  return [
    {
      address: wallet(genesis.secretKeys.faucet).publicKey.toBase58(),
      owner: SystemProgram.programId.toBase58(),
      lamports: BigInt(FAUCET_SOL) * BigInt(LAMPORTS_PER_SOL),
      data: new Uint8Array(),
      executable: false,
    },
  ]
}

/** The first transactions: the mint, the treasury's and the payer's token accounts, and money for the payer. */
export function furnish(chain: Chain): void {
  const payer = wallet(chain.genesis.secretKeys.payer)
  const treasury = wallet(chain.genesis.secretKeys.treasury)
  const mint = wallet(chain.genesis.secretKeys.mint)
  airdrop(chain, payer.publicKey, PAYER_SOL * LAMPORTS_PER_SOL)
  airdrop(chain, treasury.publicKey, TREASURY_SOL * LAMPORTS_PER_SOL)
  submitSigned(chain, createMint(chain, payer, mint), [payer, mint])
  const holding = (owner: Keypair) =>
    getAssociatedTokenAddressSync(mint.publicKey, owner.publicKey, false, TOKEN_2022_PROGRAM_ID)
  const createHolding = (owner: Keypair) =>
    createAssociatedTokenAccountIdempotentInstruction(
      payer.publicKey,
      holding(owner),
      owner.publicKey,
      mint.publicKey,
      TOKEN_2022_PROGRAM_ID,
    )
  submitSigned(chain, [createHolding(treasury), createHolding(payer)], [payer])
  submitSigned(
    chain,
    [
      createMintToInstruction(
        mint.publicKey,
        holding(payer),
        payer.publicKey,
        PAYER_TOKENS_RAW,
        [],
        TOKEN_2022_PROGRAM_ID,
      ),
    ],
    [payer],
  )
}

function createMint(chain: Chain, payer: Keypair, mint: Keypair): TransactionInstruction[] {
  const space = getMintLen([ExtensionType.MetadataPointer])
  return [
    SystemProgram.createAccount({
      fromPubkey: payer.publicKey,
      newAccountPubkey: mint.publicKey,
      space,
      lamports: chain.bank.rentExemptMinimum(space),
      programId: TOKEN_2022_PROGRAM_ID,
    }),
    createInitializeMetadataPointerInstruction(mint.publicKey, payer.publicKey, mint.publicKey, TOKEN_2022_PROGRAM_ID),
    createInitializeMint2Instruction(mint.publicKey, MINT_DECIMALS, payer.publicKey, null, TOKEN_2022_PROGRAM_ID),
  ]
}
