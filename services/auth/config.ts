import { commonConfig, databaseConfig, identityConfig, readEnvironment, str } from '@tollgate/service'

/** Everything that the service is told. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return readEnvironment(
    {
      ...commonConfig,
      ...databaseConfig,
      ...identityConfig,
      APP_ORIGIN: str({
        default: 'http://localhost:3000',
        desc: 'origin of the browser app: what a sign-in names when the request carries no Origin',
      }),
      SOLANA_NETWORK: str({
        default: 'localnet',
        choices: ['mainnet-beta', 'devnet', 'testnet', 'localnet'],
        desc: 'cluster that a sign-in names',
      }),
      COOKIE_PARTITIONED: str({
        default: '',
        choices: ['', '1'],
        desc: '1: the session cookie is kept per top-level site (CHIPS), for an app on another site than the API',
      }),
    },
    env,
  )
}
