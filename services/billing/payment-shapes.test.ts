import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  ACCOUNT_SIZE,
  createAssociatedTokenAccountInstruction,
  createInitializeAccountInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { eventually } from '@tollgate/testing'
import { startWorld, type World } from './test/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

/** A quote of 10 USD at 0.5 USD a token: 20 tokens. */
const QUOTE_RAW = 20_000_000n
type Intent = Awaited<ReturnType<World['topup']>>

interface Shape {
  name: string
  /** Sends what is to be judged; answers the signatures that the table then speaks of. */
  pay(intent: Intent): Promise<string[]>
  /** What is recorded of each; null: nothing, since it paid nothing. */
  states: (string | null)[]
  creditMicro: bigint
}

const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const memo = (text: string) =>
  new TransactionInstruction({ programId: MEMO_PROGRAM, keys: [], data: Buffer.from(text) })
const exact = (intent: Intent, amountRaw = QUOTE_RAW) =>
  world.payer.transfer({ amountRaw, references: [intent.reference] })
const referenceKey = (intent: Intent) => ({
  pubkey: new PublicKey(intent.reference),
  isSigner: false,
  isWritable: false,
})
/** A transfer of nothing that anyone can send, naming the reference. */
const spam = (intent: Intent) => {
  const { publicKey } = world.payer.wallet
  const instruction = SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports: 0 })
  instruction.keys.push(referenceKey(intent))
  return instruction
}

const shapes: Shape[] = [
  {
    name: 'exactly what was asked, in a legacy transaction',
    pay: async intent => [await world.payer.send([exact(intent)])],
    states: ['credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'in a version 0 transaction',
    pay: async intent => [await world.payer.sendV0([exact(intent)])],
    states: ['credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'in a version 1 transaction',
    pay: async intent => [await world.payer.sendV1([exact(intent)])],
    states: ['credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'with the treasury and the reference from a lookup table',
    pay: async intent => {
      const table = await world.payer.createTable([world.payer.treasuryHolding, new PublicKey(intent.reference)])
      return [await world.payer.sendV0([exact(intent)], [table])]
    },
    states: ['credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'by the unchecked transfer instruction',
    pay: async intent => {
      const { holdingOf, wallet, treasuryHolding, send } = world.payer
      const from = holdingOf(wallet.publicKey)
      const transfer = createTransferInstruction(
        from,
        treasuryHolding,
        wallet.publicKey,
        QUOTE_RAW,
        [],
        TOKEN_2022_PROGRAM_ID,
      )
      transfer.keys.push(referenceKey(intent))
      return [await send([transfer])]
    },
    states: ['credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'by a batch instruction',
    pay: async intent => [await world.payer.send([batchOf([exact(intent)])])],
    states: ['credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'between instructions that a wallet added before and after',
    pay: async intent => [await world.payer.send([memo('before'), exact(intent), memo('after')])],
    states: ['credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'with the payer itself among the extra accounts',
    pay: async intent => {
      const transfer = exact(intent)
      transfer.keys.push({ pubkey: world.payer.wallet.publicKey, isSigner: false, isWritable: false })
      return [await world.payer.send([transfer])]
    },
    states: ['credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'in two transfers of one transaction',
    pay: async intent => [await world.payer.send([exact(intent, 15_000_000n), exact(intent, 5_000_000n)])],
    states: ['credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'one unit short',
    pay: async intent => [await world.payer.send([exact(intent, QUOTE_RAW - 1n)])],
    states: ['underpaid'],
    creditMicro: 0n,
  },
  {
    name: 'one unit short, completed by a second payment',
    pay: async intent => [
      await world.payer.send([exact(intent, QUOTE_RAW - 1n)]),
      await world.payer.send([exact(intent, 1n)]),
    ],
    states: ['credited', 'credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'one unit over, which is worth half a micro-USD',
    pay: async intent => [await world.payer.send([exact(intent, QUOTE_RAW + 1n)])],
    states: ['credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'a token over, credited at the price of the quote',
    pay: async intent => [await world.payer.send([exact(intent, QUOTE_RAW + 1_000_003n)])],
    states: ['credited'],
    creditMicro: 10_500_001n,
  },
  {
    name: 'twice',
    pay: async intent => {
      const first = await world.payer.send([exact(intent)])
      await eventually(async () => (await world.paymentState(first)) === 'credited')
      return [first, await world.payer.send([exact(intent)])]
    },
    states: ['credited', 'multiple'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'after a failed transaction that names the reference',
    pay: async intent => {
      const tooMuch = world.payer.transfer({ amountRaw: 2n ** 63n, references: [intent.reference] })
      const failed = await world.payer.send([tooMuch], undefined, true)
      return [failed, await world.payer.send([exact(intent)])]
    },
    states: [null, 'credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'after spam that names the reference',
    pay: async intent => {
      const first = await world.payer.send([spam(intent)])
      const second = await world.payer.send([spam(intent), memo('again')])
      return [first, second, await world.payer.send([exact(intent)])]
    },
    states: [null, null, 'credited'],
    creditMicro: 10_000_000n,
  },
  {
    name: 'a transfer of nothing',
    pay: async intent => [await world.payer.send([exact(intent, 0n)])],
    states: [null],
    creditMicro: 0n,
  },
  {
    name: 'the reference on another instruction than the transfer',
    pay: async intent => [await world.payer.send([world.payer.transfer({ amountRaw: QUOTE_RAW }), spam(intent)])],
    states: ['unmatched'],
    creditMicro: 0n,
  },
  {
    name: 'the reference on a transfer to somebody else, beside one to the treasury',
    pay: async intent => {
      const elsewhere = await newHolding()
      const aside = world.payer.transfer({
        amountRaw: QUOTE_RAW,
        references: [intent.reference],
        destination: elsewhere,
      })
      return [await world.payer.send([aside, world.payer.transfer({ amountRaw: QUOTE_RAW })])]
    },
    states: ['unmatched'],
    creditMicro: 0n,
  },
  {
    name: 'a small transfer with the reference beside a large one without',
    pay: async intent => [
      await world.payer.send([exact(intent, 1_000n), world.payer.transfer({ amountRaw: QUOTE_RAW })]),
    ],
    states: ['underpaid'],
    creditMicro: 0n,
  },
  {
    name: 'one transfer with the references of two intents',
    pay: async intent => {
      const other = await world.topup(world.newCaller())
      const both = [intent.reference, other.reference]
      return [await world.payer.send([world.payer.transfer({ amountRaw: QUOTE_RAW, references: both })])]
    },
    states: ['multiple'],
    creditMicro: 0n,
  },
  {
    name: 'the treasury paying itself',
    pay: async intent => {
      const { treasuryHolding, send } = world.payer
      const treasury = world.chain.treasuryWallet
      const own = createTransferInstruction(
        treasuryHolding,
        treasuryHolding,
        treasury.publicKey,
        1_000_000n,
        [],
        TOKEN_2022_PROGRAM_ID,
      )
      own.keys.push(referenceKey(intent))
      return [await send([own], [world.payer.wallet, treasury])]
    },
    states: [null],
    creditMicro: 0n,
  },
  {
    name: "the treasury's wallet paying from another account of its own",
    pay: async intent => {
      const { send, transfer, treasuryHolding } = world.payer
      const treasury = world.chain.treasuryWallet
      const aside = await newHolding(treasury.publicKey)
      await send([transfer({ amountRaw: QUOTE_RAW, destination: aside })])
      const back = createTransferInstruction(
        aside,
        treasuryHolding,
        treasury.publicKey,
        QUOTE_RAW,
        [],
        TOKEN_2022_PROGRAM_ID,
      )
      back.keys.push(referenceKey(intent))
      return [await send([back], [world.payer.wallet, treasury])]
    },
    states: ['unmatched'],
    creditMicro: 0n,
  },
]

test.each(shapes)(
  '$name',
  async ({ pay, states, creditMicro }) => {
    const caller = world.newCaller()
    const intent = await world.topup(caller)
    const signatures = await pay(intent)
    // A later payment of somebody else that was credited: everything before it was seen.
    const marker = await world.topup(world.newCaller())
    const last = await world.payer.pay(marker.tokenAmountRaw, marker.reference)
    await eventually(async () => (await world.paymentState(last)) === 'credited', { withinMs: 8_000 })

    await eventually(async () => expect(await Promise.all(signatures.map(world.paymentState))).toEqual(states) ?? true)
    expect(await world.balance(caller.acct)).toBe(creditMicro)
  },
  20_000,
)

/** A fresh token account of the owner that is not its associated one: the associated account of a stranger otherwise. */
async function newHolding(owner?: PublicKey): Promise<PublicKey> {
  const { wallet, mint, send } = world.payer
  if (!owner) {
    const stranger = Keypair.generate().publicKey
    const holding = getAssociatedTokenAddressSync(mint, stranger, false, TOKEN_2022_PROGRAM_ID)
    await send([
      createAssociatedTokenAccountInstruction(wallet.publicKey, holding, stranger, mint, TOKEN_2022_PROGRAM_ID),
    ])
    return holding
  }
  const account = Keypair.generate()
  const rent = { fromPubkey: wallet.publicKey, newAccountPubkey: account.publicKey, lamports: 3_000_000 }
  await send(
    [
      SystemProgram.createAccount({ ...rent, space: ACCOUNT_SIZE, programId: TOKEN_2022_PROGRAM_ID }),
      createInitializeAccountInstruction(account.publicKey, mint, owner, TOKEN_2022_PROGRAM_ID),
    ],
    [wallet, account],
  )
  return account.publicKey
}

/** Several token instructions in one: [tag, then per instruction: accounts, data length, data]. */
function batchOf(instructions: TransactionInstruction[]): TransactionInstruction {
  const parts = instructions.map(({ keys, data }) => Buffer.concat([Buffer.from([keys.length, data.length]), data]))
  return new TransactionInstruction({
    programId: TOKEN_2022_PROGRAM_ID,
    keys: instructions.flatMap(({ keys }) => keys),
    data: Buffer.concat([Buffer.from([255]), ...parts]),
  })
}
