import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  AuthorityType,
  createAssociatedTokenAccountInstruction,
  createInitializeMint2Instruction,
  createInitializePermanentDelegateInstruction,
  createInitializeTransferFeeConfigInstruction,
  createMintToCheckedInstruction,
  createSetAuthorityInstruction,
  createTransferCheckedWithFeeInstruction,
  createTransferInstruction,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import {
  Keypair,
  type ParsedTransactionWithMeta,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import { startTestClient, type TestClient } from './test-client.ts'

let client: TestClient
let payer: Keypair

beforeAll(() => {
  client = startTestClient({ slotMs: 0 })
  payer = client.chain.payerWallet
})
afterAll(() => client.chain.stop())

/** Runs instructions in one transaction of the payer and reads it back. */
async function run(
  instructions: TransactionInstruction[],
  signers: Keypair[] = [],
): Promise<ParsedTransactionWithMeta> {
  const signature = await client.connection.sendRawTransaction(await client.sign(instructions, { signers }))
  client.chain.advanceSlots(1)
  const transaction = await client.connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 })
  if (transaction === null) throw new Error('The transaction was not found')
  return transaction
}

const parsedOf = (transaction: ParsedTransactionWithMeta) =>
  transaction.transaction.message.instructions.map(instruction =>
    'parsed' in instruction ? instruction.parsed : instruction,
  )

test('a treasury account created by the paying transaction has a balance afterwards and none before', async () => {
  const owner = Keypair.generate().publicKey
  const holding = client.holdingOf(owner)
  const transaction = await run([
    createAssociatedTokenAccountInstruction(payer.publicKey, holding, owner, client.mint, TOKEN_2022_PROGRAM_ID),
    createTransferInstruction(
      client.holdingOf(payer.publicKey),
      holding,
      payer.publicKey,
      9n,
      [],
      TOKEN_2022_PROGRAM_ID,
    ),
  ])
  const index = transaction.transaction.message.accountKeys.findIndex(({ pubkey }) => pubkey.equals(holding))
  const { preTokenBalances, postTokenBalances, innerInstructions } = transaction.meta ?? {}
  expect(preTokenBalances?.some(({ accountIndex }) => accountIndex === index)).toBe(false)
  expect(postTokenBalances?.find(({ accountIndex }) => accountIndex === index)).toEqual({
    accountIndex: index,
    mint: client.chain.mint,
    owner: owner.toBase58(),
    programId: TOKEN_2022_PROGRAM_ID.toBase58(),
    uiTokenAmount: { amount: '9', decimals: 6, uiAmount: 0.000009, uiAmountString: '0.000009' },
  })
  expect(parsedOf(transaction)).toMatchObject([
    {
      type: 'create',
      info: { source: payer.publicKey.toBase58(), account: holding.toBase58(), wallet: owner.toBase58() },
    },
    { type: 'transfer', info: { authority: payer.publicKey.toBase58(), amount: '9' } },
  ])
  const inner = innerInstructions?.map(({ index: at, instructions }) => ({
    at,
    types: instructions.map(instruction => ('parsed' in instruction ? instruction.parsed.type : 'partial')),
  }))
  expect(inner).toEqual([
    { at: 0, types: ['getAccountDataSize', 'createAccount', 'initializeImmutableOwner', 'initializeAccount3'] },
  ])
})

test('a transfer with a fee shows both amounts, and the extensions of its mint and accounts are readable', async () => {
  const mint = Keypair.generate()
  const extensions = [ExtensionType.TransferFeeConfig, ExtensionType.PermanentDelegate]
  const space = getMintLen(extensions)
  const owner = Keypair.generate()
  const [from, to] = [payer.publicKey, owner.publicKey].map(key =>
    getAssociatedTokenAddressSync(mint.publicKey, key, false, TOKEN_2022_PROGRAM_ID),
  )
  if (!from || !to) throw new Error('Two addresses were derived')
  const created = await run(
    [
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: mint.publicKey,
        space,
        lamports: await client.connection.getMinimumBalanceForRentExemption(space),
        programId: TOKEN_2022_PROGRAM_ID,
      }),
      createInitializeTransferFeeConfigInstruction(
        mint.publicKey,
        payer.publicKey,
        null,
        100,
        5000n,
        TOKEN_2022_PROGRAM_ID,
      ),
      createInitializePermanentDelegateInstruction(mint.publicKey, payer.publicKey, TOKEN_2022_PROGRAM_ID),
      createInitializeMint2Instruction(mint.publicKey, 2, payer.publicKey, null, TOKEN_2022_PROGRAM_ID),
    ],
    [mint],
  )
  expect(parsedOf(created)).toMatchObject([
    { type: 'createAccount', info: { space, newAccount: mint.publicKey.toBase58() } },
    { type: 'initializeTransferFeeConfig', info: { transferFeeBasisPoints: 100, maximumFee: 5000 } },
    { type: 'initializePermanentDelegate', info: { delegate: payer.publicKey.toBase58() } },
    { type: 'initializeMint2', info: { decimals: 2, mintAuthority: payer.publicKey.toBase58() } },
  ])
  const paid = await run([
    createAssociatedTokenAccountInstruction(
      payer.publicKey,
      from,
      payer.publicKey,
      mint.publicKey,
      TOKEN_2022_PROGRAM_ID,
    ),
    createAssociatedTokenAccountInstruction(
      payer.publicKey,
      to,
      owner.publicKey,
      mint.publicKey,
      TOKEN_2022_PROGRAM_ID,
    ),
    createMintToCheckedInstruction(mint.publicKey, from, payer.publicKey, 100_000n, 2, [], TOKEN_2022_PROGRAM_ID),
    createTransferCheckedWithFeeInstruction(
      from,
      mint.publicKey,
      to,
      payer.publicKey,
      10_000n,
      2,
      100n,
      [],
      TOKEN_2022_PROGRAM_ID,
    ),
  ])
  expect(parsedOf(paid).slice(2)).toMatchObject([
    { type: 'mintToChecked', info: { tokenAmount: { amount: '100000' } } },
    {
      type: 'transferCheckedWithFee',
      info: { authority: payer.publicKey.toBase58(), tokenAmount: { amount: '10000' }, feeAmount: { amount: '100' } },
    },
  ])
  const { value } = await client.connection.getMultipleParsedAccounts([mint.publicKey, to])
  expect(value[0]?.data).toMatchObject({
    program: 'spl-token-2022',
    parsed: {
      type: 'mint',
      info: {
        decimals: 2,
        supply: '100000',
        extensions: [
          {
            extension: 'transferFeeConfig',
            state: { newerTransferFee: { transferFeeBasisPoints: 100, maximumFee: 5000 } },
          },
          { extension: 'permanentDelegate', state: { delegate: payer.publicKey.toBase58() } },
        ],
      },
    },
  })
  expect(value[1]?.data).toMatchObject({
    parsed: {
      type: 'account',
      info: {
        tokenAmount: { amount: '9900' },
        extensions: [
          { extension: 'immutableOwner' },
          { extension: 'transferFeeAmount', state: { withheldAmount: 100 } },
        ],
      },
    },
  })
})

test('a memo is its text, and is listed with its length', async () => {
  const memo = new TransactionInstruction({
    programId: new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
    keys: [],
    data: Buffer.from('order 7'),
  })
  const reference = Keypair.generate().publicKey
  const transaction = await run([memo, client.payment(1n, reference)])
  expect(parsedOf(transaction)[0]).toBe('order 7')
  expect(await client.connection.getSignaturesForAddress(reference)).toMatchObject([{ memo: '[7] order 7' }])
})

test('an instruction that is not understood keeps its data and names its accounts', async () => {
  const account = Keypair.generate()
  const lamports = await client.connection.getMinimumBalanceForRentExemption(80)
  const transaction = await run(
    [
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: account.publicKey,
        lamports,
        space: 80,
        programId: SystemProgram.programId,
      }),
      SystemProgram.nonceInitialize({ noncePubkey: account.publicKey, authorizedPubkey: payer.publicKey }),
    ],
    [account],
  )
  expect(transaction.transaction.message.instructions[1]).toMatchObject({
    programId: SystemProgram.programId,
    accounts: [account.publicKey, expect.anything(), expect.anything()],
  })
})

test('a change of authority names what it changes', async () => {
  const owner = Keypair.generate()
  const holding = client.holdingOf(owner.publicKey)
  const heir = Keypair.generate().publicKey
  const transaction = await run(
    [
      createAssociatedTokenAccountInstruction(
        payer.publicKey,
        holding,
        owner.publicKey,
        client.mint,
        TOKEN_2022_PROGRAM_ID,
      ),
      createSetAuthorityInstruction(
        holding,
        owner.publicKey,
        AuthorityType.CloseAccount,
        heir,
        [],
        TOKEN_2022_PROGRAM_ID,
      ),
    ],
    [owner],
  )
  expect(parsedOf(transaction)[1]).toEqual({
    type: 'setAuthority',
    info: {
      account: holding.toBase58(),
      authority: owner.publicKey.toBase58(),
      authorityType: 'closeAccount',
      newAuthority: heir.toBase58(),
    },
  })
})

test('token accounts are found by owner, mint and program', async () => {
  const { connection } = client
  const byMint = await connection.getTokenAccountsByOwner(payer.publicKey, { mint: client.mint })
  expect(byMint.value.map(({ pubkey }) => pubkey)).toEqual([client.holdingOf(payer.publicKey)])
  const byProgram = await connection.getParsedTokenAccountsByOwner(payer.publicKey, {
    programId: TOKEN_2022_PROGRAM_ID,
  })
  expect(byProgram.value.map(({ account }) => account.data.parsed.info.owner)).toContain(payer.publicKey.toBase58())
  expect((await connection.getTokenSupply(client.mint)).value.uiAmountString).toBe('1000000000')
})
