export { publicErrorOf } from './answers.ts'
export {
  commonConfig,
  databaseConfig,
  identityConfig,
  list,
  makeValidator,
  num,
  port,
  readEnvironment,
  secret,
  secrets,
  str,
} from './config.ts'
export { type Account, accountOf, identityOf, type ServiceHttpOptions, serviceHttp } from './http.ts'
export { createLog, type Log } from './log.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export type { Readiness } from './ops.ts'
export { type Repeating, type RepeatOptions, repeat } from './repeat.ts'
export { type RunOptions, runService } from './run.ts'
export { Secret } from './secret.ts'
