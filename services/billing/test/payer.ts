import * as kit from '@solana/kit'
import {
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import {
  type AddressLookupTableAccount,
  AddressLookupTableProgram,
  Connection,
  type Keypair,
  PublicKey,
  Transaction,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import type { RunningChain } from '@tollgate/chain'
import { eventually } from '@tollgate/testing'

/** Version 1 states its limits in the message; these are the largest. */
const VERSION_1_CONFIG = {
  computeUnitLimit: 1_400_000,
  loadedAccountsDataSizeLimit: 64 * 1024 * 1024,
  priorityFeeLamports: 0n,
}

export interface TransferOptions {
  amountRaw: bigint
  references?: readonly string[]
  /** The treasury's token account where not said. */
  destination?: PublicKey
}

/** A wallet that pays as an unmodified client does. */
export function createPayer(chain: RunningChain, wallet: Keypair = chain.payerWallet) {
  const connection = new Connection(chain.rpc, 'confirmed')
  const mint = new PublicKey(chain.mint)
  const holdingOf = (owner: PublicKey) => getAssociatedTokenAddressSync(mint, owner, true, TOKEN_2022_PROGRAM_ID)
  const treasuryHolding = holdingOf(chain.treasuryWallet.publicKey)

  function transfer({ amountRaw, references = [], destination = treasuryHolding }: TransferOptions) {
    const source = holdingOf(wallet.publicKey)
    const instruction = createTransferCheckedInstruction(
      source,
      mint,
      destination,
      wallet.publicKey,
      amountRaw,
      chain.decimals,
      [],
      TOKEN_2022_PROGRAM_ID,
    )
    for (const reference of references) {
      instruction.keys.push({ pubkey: new PublicKey(reference), isSigner: false, isWritable: false })
    }
    return instruction
  }

  /** A legacy transaction in its wire form. */
  async function sign(instructions: TransactionInstruction[], signers: Keypair[] = [wallet]): Promise<Buffer> {
    const transaction = new Transaction().add(...instructions)
    transaction.feePayer = wallet.publicKey
    transaction.recentBlockhash = (await connection.getLatestBlockhash()).blockhash
    transaction.sign(...signers)
    return transaction.serialize()
  }

  /** Sends instructions in one transaction and answers its signature; it is confirmed a slot later. */
  async function send(instructions: TransactionInstruction[], signers: Keypair[] = [wallet], skipPreflight = false) {
    return connection.sendRawTransaction(await sign(instructions, signers), { skipPreflight })
  }

  /** Version 0, with addresses from lookup tables where given. */
  async function sendV0(instructions: TransactionInstruction[], tables: AddressLookupTableAccount[] = []) {
    const { blockhash } = await connection.getLatestBlockhash()
    const draft = new TransactionMessage({ payerKey: wallet.publicKey, recentBlockhash: blockhash, instructions })
    const transaction = new VersionedTransaction(draft.compileToV0Message(tables))
    transaction.sign([wallet])
    return connection.sendTransaction(transaction)
  }

  /** Version 1, which web3.js reads but can't write. */
  async function sendV1(instructions: TransactionInstruction[]) {
    const signer = await kit.createKeyPairSignerFromBytes(wallet.secretKey)
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash()
    const lifetime = { blockhash: kit.blockhash(blockhash), lastValidBlockHeight: BigInt(lastValidBlockHeight) }
    const message = kit.pipe(
      kit.createTransactionMessage({ version: 1 }),
      draft => kit.setTransactionMessageFeePayerSigner(signer, draft),
      draft => kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
      draft => kit.setTransactionMessageConfig(VERSION_1_CONFIG, draft),
      draft => kit.appendTransactionMessageInstructions(instructions.map(kitInstruction), draft),
    )
    const signed = await kit.signTransactionMessageWithSigners(message)
    return connection.sendEncodedTransaction(kit.getBase64EncodedWireTransaction(signed))
  }

  /** A lookup table of these addresses, ready to be used. */
  async function createTable(addresses: PublicKey[]): Promise<AddressLookupTableAccount> {
    const authority = wallet.publicKey
    const recentSlot = await connection.getSlot('finalized').catch(() => 0)
    const [create, table] = AddressLookupTableProgram.createLookupTable({ authority, payer: authority, recentSlot })
    const extend = AddressLookupTableProgram.extendLookupTable({
      lookupTable: table,
      authority,
      payer: authority,
      addresses,
    })
    await send([create, extend])
    // An address can be used from the slot after the one that added it.
    const slot = await connection.getSlot('processed')
    await eventually(async () => (await connection.getSlot('processed')) > slot + 1)
    return eventually(async () => (await connection.getAddressLookupTable(table)).value)
  }

  return {
    sendV0,
    sendV1,
    createTable,
    sign,
    connection,
    mint,
    wallet,
    holdingOf,
    treasuryHolding,
    transfer,
    send,
    pay: (amountRaw: bigint | string, ...references: string[]) =>
      send([transfer({ amountRaw: BigInt(amountRaw), references })]),
  }
}

function kitInstruction({ programId, keys, data }: TransactionInstruction): kit.Instruction {
  const role = (writable: boolean, signer: boolean) =>
    signer
      ? writable
        ? kit.AccountRole.WRITABLE_SIGNER
        : kit.AccountRole.READONLY_SIGNER
      : writable
        ? kit.AccountRole.WRITABLE
        : kit.AccountRole.READONLY
  return {
    programAddress: kit.address(programId.toBase58()),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => {
      return { address: kit.address(pubkey.toBase58()), role: role(isWritable, isSigner) }
    }),
    data,
  }
}
