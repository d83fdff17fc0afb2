import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  sendAndConfirmTransaction,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { request } from './api.ts'
import type { Gateway } from './gateway.ts'

export interface Intent {
  reference: string
  url: string
  tokenAmount: string
  tokenAmountRaw: string
  decimals: number
  mint: string
  recipient: string
  network: string
  usdAmount: string
  price: number
  expiresAt: number
  blockhash: string
  lastValidBlockHeight: number
}

const FEE_LAMPORTS = 50_000_000

const connect = (gateway: Gateway) => new Connection(gateway.chain.rpc, 'confirmed')
const tokenAccount = (mint: PublicKey, owner: PublicKey) =>
  getAssociatedTokenAddressSync(mint, owner, true, TOKEN_2022_PROGRAM_ID)

async function send(gateway: Gateway, signer: Keypair, instructions: TransactionInstruction[]): Promise<string> {
  return sendAndConfirmTransaction(connect(gateway), new Transaction().add(...instructions), [signer], {
    commitment: 'confirmed',
  })
}

/** Gives a wallet SOL for fees and payment tokens, from the stack's funded payer. */
export async function fund(gateway: Gateway, wallet: PublicKey, tokensRaw: bigint): Promise<void> {
  const payer = Keypair.fromSecretKey(bs58.decode(gateway.chain.payer.secretKey))
  const mint = new PublicKey(gateway.chain.mint)
  const to = tokenAccount(mint, wallet)
  await send(gateway, payer, [
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: wallet, lamports: FEE_LAMPORTS }),
    createAssociatedTokenAccountIdempotentInstruction(payer.publicKey, to, wallet, mint, TOKEN_2022_PROGRAM_ID),
    transfer(gateway, payer.publicKey, to, tokensRaw),
  ])
}

function transfer(gateway: Gateway, owner: PublicKey, to: PublicKey, raw: bigint): TransactionInstruction {
  const mint = new PublicKey(gateway.chain.mint)
  const from = tokenAccount(mint, owner)
  const { decimals } = gateway.chain
  return createTransferCheckedInstruction(from, mint, to, owner, raw, decimals, [], TOKEN_2022_PROGRAM_ID)
}

/** Pays an intent exactly as interface.md says: the quoted base units, the reference as a read-only non-signer account. */
export async function pay(gateway: Gateway, wallet: Keypair, intent: Intent, raw = BigInt(intent.tokenAmountRaw)) {
  const treasury = tokenAccount(new PublicKey(intent.mint), new PublicKey(intent.recipient))
  const instruction = transfer(gateway, wallet.publicKey, treasury, raw)
  instruction.keys.push({ pubkey: new PublicKey(intent.reference), isSigner: false, isWritable: false })
  return send(gateway, wallet, [instruction])
}

/** Asks for a quote. */
export async function quote(gateway: Gateway, cookie: string, amount: string): Promise<Intent> {
  const answer = await request<{ intent: Intent }>(gateway, { cookie }, 'POST', '/billing/topup', { amount })
  if (answer.status !== 200) throw new Error(`no quote: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.intent
}

/** Quotes, funds, pays and verifies: how an account gets credits. Returns the credited micro-USD. */
export async function topUp(gateway: Gateway, { wallet, cookie }: { wallet: Keypair; cookie: string }, amount: string) {
  const intent = await quote(gateway, cookie, amount)
  await fund(gateway, wallet.publicKey, BigInt(intent.tokenAmountRaw))
  const signature = await pay(gateway, wallet, intent)
  const { reference } = intent
  const answer = await request<{ ok: boolean; creditsMicro: number }>(gateway, { cookie }, 'POST', '/billing/verify', {
    reference,
    signature,
  })
  if (answer.status !== 200) throw new Error(`not credited: ${answer.status} ${JSON.stringify(answer.body)}`)
  return { intent, signature, creditsMicro: answer.body.creditsMicro }
}
