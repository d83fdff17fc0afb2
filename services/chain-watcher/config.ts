import { commonConfig, databaseConfig, list, num, readEnvironment, Secret, secret, str } from '@tollgate/service'

/** Everything that the service is told. A missing or odd mint or treasury is not a reason not to start: `chain.treasury` says it. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return readEnvironment(
    {
      ...commonConfig,
      ...databaseConfig,
      SOLANA_RPC_URLS: list({ desc: 'JSON-RPC endpoints, comma separated, the preferred one first' }),
      SOLANA_WS_URLS: list({ default: [], desc: 'their WebSockets in the same order; derived when empty' }),
      SOLANA_NETWORK: str({ choices: ['mainnet-beta', 'devnet', 'testnet', 'localnet'] }),
      EXPECTED_GENESIS_HASH: str({
        default: '',
        desc: 'genesis hash to insist on; the known one of the network when empty',
      }),
      TOKEN_MINT: str({ default: '', desc: 'Token-2022 mint that pays' }),
      TREASURY: str({ default: '', desc: 'wallet that is paid (not its token account)' }),
      COMMITMENT: str<'confirmed' | 'finalized'>({
        default: 'confirmed',
        choices: ['confirmed', 'finalized'],
        desc: 'how deep a payment must be to be credited',
      }),
      SCAN_INTERVAL_MS: num({ default: 1_000, desc: 'time between two looks at the treasury without a hint' }),
      TREASURY_CHECK_MS: num({ default: 60_000, desc: 'time between two looks at the mint and the treasury' }),
      FINALITY_CHECK_MS: num({ default: 5_000, desc: 'time between two looks at a payment that is not final yet' }),
      PARKED_RETRY_MS: num({
        default: 600_000,
        desc: 'time between two tries of a transaction that could not be read',
      }),
      SCAN_FROM_SLOT: num({ default: 0, desc: 'first slot of interest, for a treasury with an older life' }),
      FEE_PAYER_SECRET_KEY: secret({
        default: new Secret(''),
        desc: "base58 secret key of a wallet that may pay for creating the treasury's token account",
      }),
    },
    env,
  )
}

export type Config = ReturnType<typeof readConfig>
