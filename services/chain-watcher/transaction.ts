import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import bs58 from 'bs58'

const maybe = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]))

const CompiledInstruction = Type.Object({
  programIdIndex: Type.Integer(),
  accounts: Type.Array(Type.Integer()),
  data: Type.String(),
})
const TokenBalance = Type.Object({
  accountIndex: Type.Integer(),
  mint: Type.String(),
  uiTokenAmount: Type.Object({ amount: Type.String({ pattern: '^[0-9]{1,20}$' }) }),
})

/** `getTransaction` with encoding `json`, as far as we read it. The same for legacy, v0 and v1 transactions. */
const TransactionAnswer = Type.Object({
  slot: Type.Integer(),
  blockTime: maybe(Type.Integer()),
  transaction: Type.Object({
    message: Type.Object({ accountKeys: Type.Array(Type.String()), instructions: Type.Array(CompiledInstruction) }),
  }),
  meta: Type.Object({
    err: Type.Unknown(),
    innerInstructions: maybe(Type.Array(Type.Object({ instructions: Type.Array(CompiledInstruction) }))),
    preTokenBalances: maybe(Type.Array(TokenBalance)),
    postTokenBalances: maybe(Type.Array(TokenBalance)),
    loadedAddresses: maybe(Type.Object({ writable: Type.Array(Type.String()), readonly: Type.Array(Type.String()) })),
  }),
})

/** An instruction with its indexes resolved. */
export interface Instruction {
  program: string
  accounts: string[]
  data: Uint8Array
}

/** A landed transaction, freed from its wire format. */
export interface Transaction {
  slot: number
  blockTimeMs: number | null
  failed: boolean
  keys: string[]
  /** Top-level ones and those that programs called, all together: where a transfer stands does not matter. */
  instructions: Instruction[]
  /** Base units of a token account before and after; null where the transaction does not list it. */
  tokenBalance(account: string, side: 'before' | 'after'): { mint: string; amountRaw: bigint } | null
}

/** The transaction can't be read: a new format, or an answer with holes. Parked, never dropped. */
export class Undecodable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Undecodable'
  }
}

/** Reads a node's answer. Throws `Undecodable`. */
export function readTransaction(answer: unknown): Transaction {
  if (!Value.Check(TransactionAnswer, answer)) {
    const problem = Value.Errors(TransactionAnswer, answer).First()
    throw new Undecodable(`the answer does not fit at ${problem?.path ?? '/'}: ${problem?.message ?? 'unknown'}`)
  }
  const { message } = answer.transaction
  const { meta } = answer
  // Indexes count static keys first, then those that lookup tables gave: writable, then read-only.
  const keys = [
    ...message.accountKeys,
    ...(meta.loadedAddresses?.writable ?? []),
    ...(meta.loadedAddresses?.readonly ?? []),
  ]
  const compiled = [message.instructions, ...(meta.innerInstructions ?? []).map(inner => inner.instructions)].flat()
  return {
    slot: answer.slot,
    blockTimeMs: typeof answer.blockTime === 'number' ? answer.blockTime * 1_000 : null,
    failed: meta.err !== null && meta.err !== undefined,
    keys,
    instructions: compiled.map(instruction => resolve(instruction, keys)),
    tokenBalance(account, side) {
      const balances = (side === 'before' ? meta.preTokenBalances : meta.postTokenBalances) ?? []
      const found = balances.find(balance => keys[balance.accountIndex] === account)
      return found ? { mint: found.mint, amountRaw: BigInt(found.uiTokenAmount.amount) } : null
    },
  }
}

function resolve(instruction: Static<typeof CompiledInstruction>, keys: readonly string[]): Instruction {
  const key = (index: number) => {
    const found = keys[index]
    if (found === undefined) throw new Undecodable(`account ${index} of ${keys.length} is named but not listed`)
    return found
  }
  return {
    program: key(instruction.programIdIndex),
    accounts: instruction.accounts.map(key),
    data: bs58.decode(instruction.data),
  }
}
