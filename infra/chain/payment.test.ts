import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  createAssociatedTokenAccount,
  createTransferCheckedInstruction,
  getAccount,
  getAssociatedTokenAddressSync,
  getMint,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  sendAndConfirmTransaction,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { type RunningChain, startChain } from './index.ts'

let chain: RunningChain
let connection: Connection
let mint: PublicKey
let treasuryHolding: PublicKey
let payerHolding: PublicKey

const holdingOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mint, owner, false, TOKEN_2022_PROGRAM_ID)

beforeAll(() => {
  chain = startChain({ port: 0, slotMs: 50 })
  connection = new Connection(chain.rpc, 'confirmed')
  mint = new PublicKey(chain.mint)
  treasuryHolding = holdingOf(chain.treasuryWallet.publicKey)
  payerHolding = holdingOf(chain.payerWallet.publicKey)
})

afterAll(() => chain.stop())

function transfer(amountRaw: bigint, reference?: PublicKey) {
  const instruction = createTransferCheckedInstruction(
    payerHolding,
    mint,
    treasuryHolding,
    chain.payerWallet.publicKey,
    amountRaw,
    6,
    [],
    TOKEN_2022_PROGRAM_ID,
  )
  if (reference) instruction.keys.push({ pubkey: reference, isSigner: false, isWritable: false })
  return instruction
}

describe('unmodified clients', () => {
  test('an airdrop raises the balance and is confirmed', async () => {
    const wallet = Keypair.generate().publicKey
    const signature = await connection.requestAirdrop(wallet, 3 * LAMPORTS_PER_SOL)
    await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) })
    expect(await connection.getBalance(wallet)).toBe(3 * LAMPORTS_PER_SOL)
  })

  test('the mint is a Token-2022 mint with 6 decimals and the treasury can hold it', async () => {
    const info = await getMint(connection, mint, 'confirmed', TOKEN_2022_PROGRAM_ID)
    expect(info.decimals).toBe(6)
    expect(info.isInitialized).toBe(true)
    const holding = await getAccount(connection, treasuryHolding, 'confirmed', TOKEN_2022_PROGRAM_ID)
    expect(holding.mint.toBase58()).toBe(chain.mint)
    expect(holding.owner.toBase58()).toBe(chain.treasury)
  })

  test('an associated token account can be created', async () => {
    const owner = Keypair.generate()
    const address = await createAssociatedTokenAccount(
      connection,
      chain.payerWallet,
      mint,
      owner.publicKey,
      undefined,
      TOKEN_2022_PROGRAM_ID,
    )
    expect((await getAccount(connection, address, 'confirmed', TOKEN_2022_PROGRAM_ID)).amount).toBe(0n)
  })

  test('a payment with a reference is confirmed, found by its reference, and reads as on a real node', async () => {
    const reference = Keypair.generate().publicKey
    const before = await connection.getTokenAccountBalance(treasuryHolding)
    const signature = await sendAndConfirmTransaction(
      connection,
      new Transaction().add(transfer(2_500_000n, reference)),
      [chain.payerWallet],
    )

    const listed = await connection.getSignaturesForAddress(reference)
    expect(listed).toMatchObject([{ signature, err: null, memo: null }])
    expect(Math.abs((listed[0]?.blockTime ?? 0) - Date.now() / 1000)).toBeLessThan(3)

    const parsed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 })
    expect(parsed?.version).toBe('legacy')
    expect(parsed?.transaction.message.instructions).toMatchObject([
      {
        program: 'spl-token',
        programId: TOKEN_2022_PROGRAM_ID,
        parsed: {
          type: 'transferChecked',
          info: {
            source: payerHolding.toBase58(),
            mint: chain.mint,
            destination: treasuryHolding.toBase58(),
            multisigAuthority: chain.payer.address,
            signers: [reference.toBase58()],
            tokenAmount: { amount: '2500000', decimals: 6, uiAmount: 2.5, uiAmountString: '2.5' },
          },
        },
      },
    ])
    const balanceOf = (side: 'preTokenBalances' | 'postTokenBalances') =>
      parsed?.meta?.[side]?.find(({ owner }) => owner === chain.treasury)?.uiTokenAmount.amount
    expect(balanceOf('preTokenBalances')).toBe(before.value.amount)
    expect(BigInt(balanceOf('postTokenBalances') ?? 0) - BigInt(before.value.amount)).toBe(2_500_000n)
    expect(parsed?.meta?.fee).toBe(5000)
  })

  test('a version 0 transaction lands and is readable in raw form', async () => {
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash()
    const message = new TransactionMessage({
      payerKey: chain.payerWallet.publicKey,
      recentBlockhash: blockhash,
      instructions: [transfer(1n)],
    }).compileToV0Message()
    const transaction = new VersionedTransaction(message)
    transaction.sign([chain.payerWallet])
    const signature = await connection.sendTransaction(transaction)
    await connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight })
    const raw = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 })
    expect(raw?.version).toBe(0)
    expect(raw?.transaction.message.serialize()).toEqual(message.serialize())
    await expect(connection.getTransaction(signature)).rejects.toThrow('maxSupportedTransactionVersion')
  })
})
