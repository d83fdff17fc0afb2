/** What a cluster's genesis hash must be. A local chain has its own, which differs from chain to chain. */
const known: Readonly<Record<string, string>> = {
  'mainnet-beta': '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
  testnet: '4uhcVJyU9pJkvQyUS88uRDiswHXSCkY3zQawwpjk2NsNY',
}

/** The genesis hash that every endpoint must have; null on a local chain without an expectation. */
export function expectedGenesis(network: string, configured: string): string | null {
  return configured || known[network] || null
}
