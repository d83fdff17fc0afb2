import { type NamedInstruction, nameAccounts, type ParsedInstruction } from './named-instruction.ts'

const CREATE = ['source', 'account', 'wallet', 'mint', 'systemProgram', 'tokenProgram']
const RECOVER = ['nestedSource', 'nestedMint', 'destination', 'nestedOwner', 'ownerMint', 'wallet', 'tokenProgram']

const INSTRUCTIONS: [type: string, accounts: string[]][] = [
  ['create', CREATE],
  ['createIdempotent', CREATE],
  ['recoverNested', RECOVER],
]

/** The associated token account program; empty data is the oldest form of create. */
export function parseAssociatedTokenInstruction({ accounts, data }: NamedInstruction): ParsedInstruction | null {
  const [type, names] = INSTRUCTIONS[data[0] ?? 0] ?? []
  if (type === undefined || names === undefined) return null
  const info = nameAccounts(names, accounts)
  return info && { type, info }
}
