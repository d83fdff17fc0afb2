import { expect, test } from 'bun:test'
import bs58 from 'bs58'
import { receiptOf } from './payment.ts'
import { readTransaction, Undecodable } from './transaction.ts'
import { TOKEN_2022_PROGRAM, transfersOf } from './transfer.ts'

const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
const transfer = (amountRaw: bigint) => Buffer.concat([Buffer.from([3]), u64(amountRaw)])
const transferChecked = (amountRaw: bigint) => Buffer.concat([Buffer.from([12]), u64(amountRaw), Buffer.from([6])])
const withFee = (amountRaw: bigint, feeRaw: bigint) =>
  Buffer.concat([Buffer.from([26, 1]), u64(amountRaw), Buffer.from([6]), u64(feeRaw)])
const batch = (...parts: [number, Buffer][]) =>
  Buffer.concat([Buffer.from([255]), ...parts.flatMap(([count, data]) => [Buffer.from([count, data.length]), data])])
const by = (accounts: string, data: Uint8Array, program = TOKEN_2022_PROGRAM) =>
  transfersOf({ program, accounts: accounts.split(' ').filter(Boolean), data })

const moved = (amountRaw: bigint, ...extraAccounts: string[]) => {
  return { source: 'source', destination: 'destination', authority: 'authority', amountRaw, extraAccounts }
}

test.each([
  ['transfer', by('source destination authority', transfer(7n)), [moved(7n)]],
  ['transferChecked', by('source mint destination authority', transferChecked(7n)), [moved(7n)]],
  ['with references', by('source mint destination authority r1 r2', transferChecked(7n)), [moved(7n, 'r1', 'r2')]],
  ['with a fee: what arrives', by('source mint destination authority r1', withFee(100n, 1n)), [moved(99n, 'r1')]],
  ['the largest amount', by('source destination authority', transfer(2n ** 64n - 1n)), [moved(2n ** 64n - 1n)]],
  [
    'a batch: each takes its own accounts',
    by(
      'source destination authority r1 source mint destination authority r2 r3',
      batch([4, transfer(1n)], [6, transferChecked(2n)]),
    ),
    [moved(1n, 'r1'), moved(2n, 'r2', 'r3')],
  ],
  ['a batch in a batch, which the program refuses', by('a b c', batch([3, batch([3, transfer(1n)])])), []],
  ['a batch that is cut off', by('source destination authority', batch([3, transfer(1n)]).subarray(0, 6)), []],
  ['an instruction of another program', by('source destination authority', transfer(7n), 'other'), []],
  ['approve, burn, mint and the like', by('source destination authority', Buffer.from([4, ...u64(7n)])), []],
  ['too few accounts', by('source destination', transfer(7n)), []],
  ['too few bytes', by('source destination authority', transfer(7n).subarray(0, 5)), []],
  ['no bytes', by('source destination authority', Buffer.alloc(0)), []],
])('%s', (_name, transfers, expected) => {
  expect(transfers).toEqual(expected)
})

const target = { mint: 'mint', treasury: 'treasury', tokenAccount: 'destination' }

/** A node's answer with one transfer of 100 to the treasury, called by another program. */
function answer(changes: { meta?: object; message?: object; blockTime?: number | null } = {}) {
  const accountKeys = ['source', 'mint', 'destination', 'authority', 'reference', TOKEN_2022_PROGRAM, 'wallet program']
  const paid = {
    programIdIndex: 5,
    accounts: [0, 1, 2, 3, 4],
    data: bs58.encode(transferChecked(100n)),
    stackHeight: 2,
  }
  const balance = (amount: string) => ({ accountIndex: 2, mint: 'mint', uiTokenAmount: { amount, decimals: 6 } })
  return {
    slot: 9,
    blockTime: changes.blockTime === undefined ? 1_000 : changes.blockTime,
    version: 0,
    transaction: {
      signatures: [],
      message: { accountKeys, instructions: [{ programIdIndex: 6, accounts: [], data: '' }], ...changes.message },
    },
    meta: {
      err: null,
      innerInstructions: [{ index: 0, instructions: [paid] }],
      preTokenBalances: [balance('50')],
      postTokenBalances: [balance('150')],
      loadedAddresses: { writable: [], readonly: [] },
      ...changes.meta,
    },
  }
}
const receipt = (changes = {}) => receiptOf(readTransaction(answer(changes)), target)

test('a transfer that another program makes counts like one of the payer', () => {
  expect(receipt()).toEqual({
    slot: 9,
    blockTimeMs: 1_000_000,
    deltaRaw: 100n,
    legs: [{ amountRaw: 100n, source: 'source', references: ['reference'] }],
  })
})

test('an account that the transaction made counts from zero', () => {
  expect(receipt({ meta: { preTokenBalances: [] } })?.deltaRaw).toBe(150n)
})

test.each([
  ['failed', { meta: { err: { InstructionError: [0, 'Custom'] } } }],
  ['took as much as it gave', { meta: { postTokenBalances: answer().meta.preTokenBalances } }],
  ['does not know the treasury', { meta: { preTokenBalances: [], postTokenBalances: [], innerInstructions: [] } }],
])('a transaction that %s pays nothing', (_name, changes) => {
  expect(receipt(changes)).toBeNull()
})

test('an unknown block time is kept as unknown', () => {
  expect(receipt({ blockTime: null })?.blockTimeMs).toBeNull()
})

test.each([
  ['lists no balances though it moved tokens to the treasury', answer({ meta: { postTokenBalances: null } })],
  ['has no meta', { ...answer(), meta: null }],
  ['names accounts that it does not list', answer({ message: { accountKeys: ['source'] } })],
  ['is of a form that we do not know', { v: 2 }],
])('an answer that %s is not taken for "nothing"', (_name, odd) => {
  expect(() => receiptOf(readTransaction(odd), target)).toThrow(Undecodable)
})
