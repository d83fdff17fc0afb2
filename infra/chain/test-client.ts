import {
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import { Connection, type Keypair, PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'
import { type ChainOptions, type RunningChain, startChain } from './index.ts'

/** A chain and an unmodified web3.js client of it, with the few things that every test pays with. */
export type TestClient = {
  chain: RunningChain
  connection: Connection
  mint: PublicKey
  holdingOf(owner: PublicKey): PublicKey
  /** Tokens from the payer to the treasury, with references appended as Solana Pay wants them. */
  payment(amountRaw: bigint, ...references: PublicKey[]): TransactionInstruction
  /** A transaction of the payer's (and further signers) in its wire form. */
  sign(instructions: TransactionInstruction[], options?: { blockhash?: string; signers?: Keypair[] }): Promise<Buffer>
  /** Posts a JSON-RPC call and answers the reply as it came. */
  call(method: string, ...params: unknown[]): Promise<RawReply>
}

type RawReply = {
  result?: unknown
  error?: { code: number; message: string; data?: { err?: unknown; logs?: unknown } }
}

export function startTestClient(options: Partial<ChainOptions> = {}): TestClient {
  const chain = startChain({ port: 0, slotMs: 50, ...options })
  const connection = new Connection(chain.rpc, 'confirmed')
  const mint = new PublicKey(chain.mint)
  const payer = chain.payerWallet
  const holdingOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mint, owner, false, TOKEN_2022_PROGRAM_ID)
  return {
    chain,
    connection,
    mint,
    holdingOf,
    payment(amountRaw, ...references) {
      const [from, to] = [holdingOf(payer.publicKey), holdingOf(chain.treasuryWallet.publicKey)]
      const instruction = createTransferCheckedInstruction(
        from,
        mint,
        to,
        payer.publicKey,
        amountRaw,
        chain.decimals,
        [],
        TOKEN_2022_PROGRAM_ID,
      )
      for (const pubkey of references) instruction.keys.push({ pubkey, isSigner: false, isWritable: false })
      return instruction
    },
    async sign(instructions, { blockhash, signers = [] } = {}) {
      const latest = await connection.getLatestBlockhash('processed')
      const transaction = new Transaction({
        feePayer: payer.publicKey,
        lastValidBlockHeight: latest.lastValidBlockHeight,
        blockhash: blockhash ?? latest.blockhash,
      }).add(...instructions)
      transaction.sign(payer, ...signers)
      return transaction.serialize()
    },
    async call(method, ...params) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const response = await fetch(chain.rpc, { method: 'POST', body })
      // The test looks at single fields of it, and says which.
      return (await response.json()) as RawReply
    },
  }
}
