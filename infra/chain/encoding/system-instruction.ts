import { type NamedInstruction, nameAccounts, type ParsedInstruction } from './named-instruction.ts'
import { Reader } from './reader.ts'

type Layout = { type: string; accounts: string[]; fields: (reader: Reader) => Record<string, unknown> }

/** Bincode writes a text's length as u64. */
function seed(reader: Reader): string {
  return new TextDecoder().decode(reader.bytes(Number(reader.u64())))
}

const LAYOUTS: Record<number, Layout> = {
  0: {
    type: 'createAccount',
    accounts: ['source', 'newAccount'],
    fields: reader => ({ lamports: reader.u64(), space: reader.u64(), owner: reader.address() }),
  },
  1: { type: 'assign', accounts: ['account'], fields: reader => ({ owner: reader.address() }) },
  2: { type: 'transfer', accounts: ['source', 'destination'], fields: reader => ({ lamports: reader.u64() }) },
  3: {
    type: 'createAccountWithSeed',
    accounts: ['source', 'newAccount'],
    fields: reader => ({
      base: reader.address(),
      seed: seed(reader),
      lamports: reader.u64(),
      space: reader.u64(),
      owner: reader.address(),
    }),
  },
  4: {
    type: 'advanceNonce',
    accounts: ['nonceAccount', 'recentBlockhashesSysvar', 'nonceAuthority'],
    fields: () => ({}),
  },
  8: { type: 'allocate', accounts: ['account'], fields: reader => ({ space: reader.u64() }) },
}

/** The system program's common instructions; the others stay partially decoded. */
export function parseSystemInstruction({ accounts, data }: NamedInstruction): ParsedInstruction | null {
  const reader = new Reader(data)
  const layout = LAYOUTS[reader.u32()]
  const named = layout && nameAccounts(layout.accounts, accounts)
  return named ? { type: layout.type, info: { ...named, ...layout.fields(reader) } } : null
}
