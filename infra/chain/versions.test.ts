import { afterAll, beforeAll, expect, test } from 'bun:test'
import * as kit from '@solana/kit'
import {
  AddressLookupTableProgram,
  Keypair,
  type PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { startTestClient, type TestClient } from './test-client.ts'

let client: TestClient

beforeAll(() => {
  client = startTestClient({ slotMs: 0 })
})
afterAll(() => client.chain.stop())

async function createTable(addresses: PublicKey[]) {
  const { chain, connection } = client
  const payer = chain.payerWallet.publicKey
  const recentSlot = (await connection.getSlot('processed')) - 1
  const [create, table] = AddressLookupTableProgram.createLookupTable({ authority: payer, payer, recentSlot })
  const extend = AddressLookupTableProgram.extendLookupTable({ lookupTable: table, authority: payer, payer, addresses })
  await connection.sendRawTransaction(await client.sign([create, extend]))
  chain.advanceSlots(2)
  const { value } = await connection.getAddressLookupTable(table)
  if (value === null) throw new Error('The table was not created')
  return value
}

test('a version 0 payment with keys from a lookup table is indexed by its loaded reference', async () => {
  const { chain, connection } = client
  const reference = Keypair.generate().publicKey
  const treasury = client.holdingOf(chain.treasuryWallet.publicKey)
  const table = await createTable([treasury, reference])
  const { blockhash } = await connection.getLatestBlockhash('processed')
  const message = new TransactionMessage({
    payerKey: chain.payerWallet.publicKey,
    recentBlockhash: blockhash,
    instructions: [client.payment(77n, reference)],
  }).compileToV0Message([table])
  expect(message.addressTableLookups).toHaveLength(1)
  const transaction = new VersionedTransaction(message)
  transaction.sign([chain.payerWallet])
  const signature = await connection.sendTransaction(transaction)
  chain.advanceSlots(1)

  expect(await connection.getSignaturesForAddress(reference)).toMatchObject([{ signature, err: null }])
  const raw = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 })
  expect(raw?.meta?.loadedAddresses).toEqual({ writable: [treasury], readonly: [reference] })
  const parsed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 })
  expect(parsed?.transaction.message.accountKeys.at(-1)).toEqual({
    pubkey: reference,
    signer: false,
    writable: false,
    source: 'lookupTable',
  })
  expect(parsed?.transaction.message.instructions[0]).toMatchObject({
    parsed: { info: { signers: [reference.toBase58()] } },
  })
  const after = parsed?.meta?.postTokenBalances?.find(({ owner }) => owner === chain.treasury)
  expect(parsed?.transaction.message.accountKeys[after?.accountIndex ?? 0]?.pubkey).toEqual(treasury)
  await expect(connection.getTransaction(signature)).rejects.toThrow('Transaction version (0) is not supported')
})

const CONFIG = { computeUnitLimit: 10_000, loadedAccountsDataSizeLimit: 65_536, priorityFeeLamports: 42n }

/** A transfer in version 1, which web3.js reads but cannot write; kit can. */
async function versionOneTransfer(to: PublicKey, lamports: number): Promise<string> {
  const { payerWallet } = client.chain
  const signer = await kit.createKeyPairSignerFromBytes(payerWallet.secretKey)
  const latest = await client.connection.getLatestBlockhash('processed')
  const lifetime = {
    blockhash: kit.blockhash(latest.blockhash),
    lastValidBlockHeight: BigInt(latest.lastValidBlockHeight),
  }
  const transfer = {
    programAddress: kit.address(SystemProgram.programId.toBase58()),
    accounts: [
      { address: signer.address, role: kit.AccountRole.WRITABLE_SIGNER },
      { address: kit.address(to.toBase58()), role: kit.AccountRole.WRITABLE },
    ],
    data: SystemProgram.transfer({ fromPubkey: payerWallet.publicKey, toPubkey: to, lamports }).data,
  }
  const message = kit.pipe(
    kit.createTransactionMessage({ version: 1 }),
    draft => kit.setTransactionMessageFeePayerSigner(signer, draft),
    draft => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
    draft => kit.setTransactionMessageConfig(CONFIG, draft),
    draft => kit.appendTransactionMessageInstruction(transfer, draft),
  )
  return kit.getBase64EncodedWireTransaction(await kit.signTransactionMessageWithSigners(message))
}

test('a version 1 transaction lands, is listed, and is readable only by clients that ask for version 1', async () => {
  const { chain, connection } = client
  const to = Keypair.generate().publicKey
  const signature = await connection.sendEncodedTransaction(await versionOneTransfer(to, 7_000_000))
  chain.advanceSlots(1)
  expect(await connection.getBalance(to)).toBe(7_000_000)
  expect(await connection.getSignaturesForAddress(to)).toMatchObject([{ signature }])
  await expect(connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 })).rejects.toThrow(
    'Transaction version (1)',
  )
  const raw = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 1 })
  expect(raw?.version).toBe(1)
  expect(raw?.meta?.fee).toBe(5042)
  const parsed = await connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 1 })
  expect(parsed?.transaction.message.instructions[0]).toMatchObject({ parsed: { type: 'transfer' } })
})
