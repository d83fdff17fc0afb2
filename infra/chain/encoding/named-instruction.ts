/** An instruction with its accounts as addresses. */
export type NamedInstruction = { accounts: string[]; data: Uint8Array }

export type ParsedInstruction = { type: string; info: Record<string, unknown> }

/** Pairs account names with addresses; null when the instruction has fewer accounts than names. */
export function nameAccounts(names: readonly string[], accounts: string[]): Record<string, string> | null {
  const pairs = names.flatMap((name, index) => {
    const address = accounts[index]
    return address === undefined ? [] : [[name, address] as const]
  })
  return pairs.length === names.length ? Object.fromEntries(pairs) : null
}
