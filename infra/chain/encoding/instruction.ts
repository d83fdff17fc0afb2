import { ASSOCIATED_TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { SystemProgram } from '@solana/web3.js'
import bs58 from 'bs58'
import { MEMO_PROGRAMS } from '../state/memo.ts'
import type { CompiledInstruction } from '../state/message.ts'
import { parseAssociatedTokenInstruction } from './associated-token-instruction.ts'
import type { NamedInstruction } from './named-instruction.ts'
import { parseSystemInstruction } from './system-instruction.ts'
import { isTokenProgram } from './token-account.ts'
import { parseTokenInstruction } from './token-instruction.ts'

const SYSTEM = SystemProgram.programId.toBase58()
const ASSOCIATED_TOKEN = ASSOCIATED_TOKEN_PROGRAM_ID.toBase58()

/** An instruction in jsonParsed form; one that is not understood keeps its data and names its accounts. */
export function encodeParsedInstruction(instruction: CompiledInstruction, keys: string[], stackHeight: number) {
  const at = (index: number) => keys[index] ?? SYSTEM
  const programId = at(instruction.programIdIndex)
  const named = { accounts: instruction.accounts.map(at), data: instruction.data }
  const known = parse(programId, named)
  if (known === null) return { programId, accounts: named.accounts, data: bs58.encode(named.data), stackHeight }
  return { program: known.program, programId, parsed: known.parsed, stackHeight }
}

function parse(programId: string, instruction: NamedInstruction): { program: string; parsed: unknown } | null {
  const parser = parserOf(programId)
  if (parser === null) return null
  try {
    const parsed = parser.parse(instruction)
    return parsed === null ? null : { program: parser.program, parsed }
  } catch (error) {
    // Data that ends too early, or text that is not UTF-8, is what nodes call "not parsable".
    if (error instanceof RangeError || error instanceof TypeError) return null
    throw error
  }
}

function parserOf(programId: string): { program: string; parse: (instruction: NamedInstruction) => unknown } | null {
  if (isTokenProgram(programId)) return { program: 'spl-token', parse: parseTokenInstruction }
  if (programId === SYSTEM) return { program: 'system', parse: parseSystemInstruction }
  if (programId === ASSOCIATED_TOKEN) {
    return { program: 'spl-associated-token-account', parse: parseAssociatedTokenInstruction }
  }
  if (MEMO_PROGRAMS.has(programId)) return { program: 'spl-memo', parse: parseMemo }
  return null
}

function parseMemo({ data }: NamedInstruction): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(data)
}
