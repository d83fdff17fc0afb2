import { ComputeBudgetProgram, Ed25519Program, Secp256k1Program } from '@solana/web3.js'
import type { Message } from './message.ts'

const LAMPORTS_PER_SIGNATURE = 5_000
const DEFAULT_UNITS_PER_INSTRUCTION = 200_000
const MAX_COMPUTE_UNITS = 1_400_000
const MICRO_LAMPORTS = 1_000_000n

const SET_UNIT_LIMIT = 2
const SET_UNIT_PRICE = 3

const COMPUTE_BUDGET = ComputeBudgetProgram.programId.toBase58()

/** Programs that check further signatures, each charged like the transaction's own; the first byte counts them. */
const SIGNATURE_PROGRAMS = new Set([
  Ed25519Program.programId.toBase58(),
  Secp256k1Program.programId.toBase58(),
  'Secp256r1SigVerify1111111111111111111111111',
])

/** Lamports a transaction costs its fee payer: the signatures plus the priority it bids for. */
export function transactionFee(message: Message): number {
  const checked = message.instructions
    .filter(({ programIdIndex }) => SIGNATURE_PROGRAMS.has(message.staticKeys[programIdIndex] ?? ''))
    .reduce((count, { data }) => count + (data[0] ?? 0), 0)
  return (message.header.numRequiredSignatures + checked) * LAMPORTS_PER_SIGNATURE + priorityFee(message)
}

/** Price in micro-lamports per unit × unit limit, rounded up; a v1 message states the total instead. */
function priorityFee(message: Message): number {
  if (message.version === 1) return message.config?.priorityFee ?? 0
  let price = 0n
  let limit: number | null = null
  let others = 0
  for (const { programIdIndex, data } of message.instructions) {
    if (message.staticKeys[programIdIndex] !== COMPUTE_BUDGET) {
      others += 1
      continue
    }
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
    if (data[0] === SET_UNIT_LIMIT && data.length >= 5) limit = view.getUint32(1, true)
    if (data[0] === SET_UNIT_PRICE && data.length >= 9) price = view.getBigUint64(1, true)
  }
  const units = Math.min(limit ?? others * DEFAULT_UNITS_PER_INSTRUCTION, MAX_COMPUTE_UNITS)
  return Number((price * BigInt(units) + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS)
}
