import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  AccountState,
  createAssociatedTokenAccountIdempotentInstruction,
  createEnableRequiredMemoTransfersInstruction,
  createFreezeAccountInstruction,
  createInitializeDefaultAccountStateInstruction,
  createInitializeInterestBearingMintInstruction,
  createInitializeMint2Instruction,
  createInitializeMintCloseAuthorityInstruction,
  createInitializeMintInstruction,
  createInitializeNonTransferableMintInstruction,
  createInitializePausableConfigInstruction,
  createInitializePermanentDelegateInstruction,
  createInitializeScaledUiAmountConfigInstruction,
  createInitializeTransferFeeConfigInstruction,
  createInitializeTransferHookInstruction,
  createPauseInstruction,
  createReallocateInstruction,
  ExtensionType,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import { Keypair, type PublicKey, SystemProgram, Transaction, type TransactionInstruction } from '@solana/web3.js'
import { type RunningChain, startChain } from '@tollgate/chain'
import { readChain } from './chain.ts'
import { judgeMint } from './mint.ts'
import { openRpc } from './rpc/pool.ts'
import { tokenAccountOf, treasuryProblem } from './token-account.ts'

let node: RunningChain
let chain: ReturnType<typeof readChain>
let payer: Keypair
beforeAll(() => {
  node = startChain({ port: 0, slotMs: 20 })
  payer = node.payerWallet
  chain = readChain(openRpc({ urls: [node.rpc], genesisHash: null }))
})
afterAll(() => node.stop())

async function send(instructions: TransactionInstruction[], ...signers: Keypair[]): Promise<void> {
  const { blockhash, lastValidBlockHeight } = await chain.latestBlockhash()
  const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight }).add(
    ...instructions,
  )
  transaction.sign(payer, ...signers)
  await chain.send(transaction.serialize())
}

interface MintOptions {
  extensions?: ExtensionType[]
  /** Instructions before the mint is initialized, and after. */
  before?(mint: PublicKey): TransactionInstruction[]
  after?(mint: PublicKey): TransactionInstruction[]
  program?: PublicKey
}

/** A real mint with these extensions. */
async function createMint({ extensions = [], before, after, program = TOKEN_2022_PROGRAM_ID }: MintOptions) {
  const mint = Keypair.generate()
  const authority = payer.publicKey
  const initialize =
    program === TOKEN_2022_PROGRAM_ID ? createInitializeMint2Instruction : createInitializeMintInstruction
  await send(
    [
      SystemProgram.createAccount({
        fromPubkey: authority,
        newAccountPubkey: mint.publicKey,
        lamports: 10_000_000,
        space: getMintLen(extensions),
        programId: program,
      }),
      ...(before?.(mint.publicKey) ?? []),
      initialize(mint.publicKey, 6, authority, authority, program),
      ...(after?.(mint.publicKey) ?? []),
    ],
    mint,
  )
  return mint.publicKey
}

const judge = async (mint: PublicKey) => judgeMint(mint.toBase58(), await chain.account(mint.toBase58()))
const P = TOKEN_2022_PROGRAM_ID
const own = () => payer.publicKey
const fee = (basisPoints: number): MintOptions => ({
  extensions: [ExtensionType.TransferFeeConfig],
  before: mint => [createInitializeTransferFeeConfigInstruction(mint, own(), own(), basisPoints, 5_000n, P)],
})

const refused: [string, MintOptions, string][] = [
  ['with a transfer fee', fee(100), 'withholds a fee'],
  ['of the older token program', { program: TOKEN_PROGRAM_ID }, 'not owned by the Token-2022 program'],
  [
    'with a transfer hook',
    {
      extensions: [ExtensionType.TransferHook],
      before: mint => [createInitializeTransferHookInstruction(mint, own(), Keypair.generate().publicKey, P)],
    },
    'decides about its transfers',
  ],
  [
    'that can not be transferred',
    {
      extensions: [ExtensionType.NonTransferable],
      before: mint => [createInitializeNonTransferableMintInstruction(mint, P)],
    },
    'can not be transferred',
  ],
  [
    'that freezes new accounts',
    {
      extensions: [ExtensionType.DefaultAccountState],
      before: mint => [createInitializeDefaultAccountStateInstruction(mint, AccountState.Frozen, P)],
    },
    'freezes new accounts',
  ],
  [
    'that is paused',
    {
      extensions: [ExtensionType.PausableConfig],
      before: mint => [createInitializePausableConfigInstruction(mint, own(), P)],
      after: mint => [createPauseInstruction(mint, own(), [], P)],
    },
    'is paused',
  ],
  [
    'with scaled amounts',
    {
      extensions: [ExtensionType.ScaledUiAmountConfig],
      before: mint => [createInitializeScaledUiAmountConfigInstruction(mint, own(), 2, P)],
    },
    'are scaled',
  ],
  [
    'with amounts that bear interest',
    {
      extensions: [ExtensionType.InterestBearingConfig],
      before: mint => [createInitializeInterestBearingMintInstruction(mint, own(), 500, P)],
    },
    'bear interest',
  ],
]
test.each(refused)('a mint %s is refused', async (_name, options, reason) => {
  expect(await judge(await createMint(options))).toEqual({
    status: 'refused',
    reason: expect.stringContaining(reason),
  })
})

const accepted: [string, MintOptions, string[]][] = [
  ['without extensions', {}, []],
  ['with a fee of nothing', fee(0), ['it may begin to charge transfer fees']],
  [
    'that can be closed',
    {
      extensions: [ExtensionType.MintCloseAuthority],
      before: mint => [createInitializeMintCloseAuthorityInstruction(mint, own(), P)],
    },
    [],
  ],
  [
    'that can be paused, but is not',
    {
      extensions: [ExtensionType.PausableConfig],
      before: mint => [createInitializePausableConfigInstruction(mint, own(), P)],
    },
    ['its transfers can be paused'],
  ],
  [
    'with a permanent delegate',
    {
      extensions: [ExtensionType.PermanentDelegate],
      before: mint => [createInitializePermanentDelegateInstruction(mint, own(), P)],
    },
    [expect.stringContaining("can take the treasury's tokens back")],
  ],
]
test.each(accepted)('a mint %s is accepted', async (_name, options, warnings) => {
  expect(await judge(await createMint(options))).toEqual({ status: 'accepted', decimals: 6, warnings })
})

test('the local mint is accepted; an absent, foreign or unknown one is not', async () => {
  const account = await chain.account(node.mint)
  if (!account) throw new Error('there is no mint')
  expect(judgeMint(node.mint, account)).toEqual({ status: 'accepted', decimals: 6, warnings: [] })
  expect(judgeMint(node.mint, null).status).toBe('refused')
  expect((await judge(payer.publicKey)).status).toBe('refused')
  const tomorrow = Buffer.concat([account.data, Buffer.from([99, 0, 0, 0])])
  expect(judgeMint(node.mint, { ...account, data: tomorrow })).toMatchObject({
    reason: expect.stringContaining("an extension that we don't know (99)"),
  })
})

/** A token account of a fresh wallet, after what `change` does to it. */
async function holdingAfter(change: (owner: Keypair, holding: PublicKey, mint: PublicKey) => TransactionInstruction[]) {
  const owner = Keypair.generate()
  const mint = await createMint({})
  const holding = tokenAccountOf(owner.publicKey, mint)
  const create = createAssociatedTokenAccountIdempotentInstruction(own(), holding, owner.publicKey, mint, P)
  const changes = change(owner, holding, mint)
  const signs = changes.some(({ keys }) => keys.some(key => key.isSigner && key.pubkey.equals(owner.publicKey)))
  await send([create, ...changes], ...(signs ? [owner] : []))
  const target = { mint: mint.toBase58(), treasury: owner.publicKey.toBase58(), tokenAccount: holding.toBase58() }
  return { target, account: await chain.account(holding.toBase58()) }
}

test("the treasury's token account can take payments, unless it is frozen, demands memos or is not ours", async () => {
  const plain = await holdingAfter(() => [])
  expect(treasuryProblem(plain.target, plain.account)).toBeNull()
  expect(treasuryProblem(plain.target, null)).toContain('does not exist')
  expect(treasuryProblem({ ...plain.target, treasury: node.treasury }, plain.account)).toContain('another wallet')
  expect(treasuryProblem({ ...plain.target, mint: node.mint }, plain.account)).toContain('another mint')
  const frozen = await holdingAfter((_, holding, mint) => [createFreezeAccountInstruction(holding, mint, own(), [], P)])
  expect(treasuryProblem(frozen.target, frozen.account)).toContain('frozen')
  const strict = await holdingAfter((owner, holding) => [
    createReallocateInstruction(holding, own(), [ExtensionType.MemoTransfer], owner.publicKey, [], P),
    createEnableRequiredMemoTransfersInstruction(holding, owner.publicKey, [], P),
  ])
  expect(treasuryProblem(strict.target, strict.account)).toContain('memo')
})
