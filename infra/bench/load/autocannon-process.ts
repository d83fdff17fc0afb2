/** autocannon as a process: a `Load` as JSON in, a `LoadResult` as JSON out. */
import { readFileSync } from 'node:fs'
import autocannon, { type Client, type Result } from 'autocannon'
import { percentilesOf } from '../figures.ts'
import type { Load, LoadResult } from './load.ts'

const load: Load = JSON.parse(process.argv[2] ?? '') // written by `runAutocannon`
const credentials = readFileSync(load.credentialsFile, 'utf8').trimEnd().split('\n')
const MS = 1_000

const finished = Promise.withResolvers<Result>()
let connection = 0
const run = autocannon(
  {
    url: load.url,
    method: 'POST',
    connections: load.connections,
    duration: load.seconds,
    headers: { ...load.headers, authorization: `Bearer ${credentials[0]}` },
    body: load.body,
    setupClient: shareOfCredentials,
    ...(load.thinkMs > 0 && { overallRate: Math.round((load.connections * MS) / load.thinkMs) }),
  },
  (error: unknown, result) => (error ? finished.reject(error) : finished.resolve(result)),
)
// Its own histogram counts whole milliseconds: too coarse for a gateway.
const latenciesMs: number[] = []
run.on('response', (_client, _status, _bytes, ms) => latenciesMs.push(ms))
const { non2xx, errors, timeouts, duration } = await finished.promise

const result: Omit<LoadResult, 'cpuMs'> = {
  requests: latenciesMs.length,
  requestsPerSecond: latenciesMs.length / duration,
  failed: non2xx + errors + timeouts,
  latencyMs: percentilesOf(latenciesMs),
  meanMs: latenciesMs.reduce((sum, ms) => sum + ms, 0) / latenciesMs.length,
}
console.log(JSON.stringify(result))

/** Each connection takes its part of the credentials in turn: with all of them, the connections would go through them in step. */
function shareOfCredentials(client: Client): void {
  const first = connection++
  const share = credentials.filter((_, index) => index % load.connections === first % load.connections)
  if (credentials.length < load.connections) share.push(credentials[first % credentials.length] ?? '')
  client.setRequests(
    share.map(credential => ({
      method: 'POST',
      headers: { ...load.headers, authorization: `Bearer ${credential}` },
      body: load.body,
    })),
  )
}
