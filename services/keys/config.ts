import { commonConfig, databaseConfig, identityConfig, readEnvironment } from '@tollgate/service'

/** Everything that the service is told. */
export function readConfig(env: NodeJS.ProcessEnv) {
  return readEnvironment({ ...commonConfig, ...databaseConfig, ...identityConfig }, env)
}
