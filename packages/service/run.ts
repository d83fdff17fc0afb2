import type { Server } from 'bun'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { opsAnswer, type Readiness } from './ops.ts'

export interface RunOptions {
  log: Log
  metrics: Metrics
  port: number
  hosts: readonly string[]
  drainMs: number
  supervised: boolean
  /** What must work for the service to be of use, by name. */
  readiness: Readiness
  /** The service's own endpoints; without it only health and metrics are served. */
  fetch?(request: Request, server: Server<undefined>): Response | Promise<Response>
  /** Where false, `/metrics` is not served here: the router's port is public. */
  metricsHere?: boolean
  /** Health and metrics once more, on a port that is the operator's. */
  opsPort?: number | undefined
  /** The last hand on health answers of a public port. */
  finishHealth?(request: Request, answer: Response): Response
  /** Steps of an orderly end, in order, after the last request was answered. */
  close: readonly (() => Promise<unknown> | unknown)[]
}

/** Bodies are bounded per route well below this; Bun's own refusal has an empty body, so it must never be the first. */
const BODY_MAX_BYTES = 64 * 1024 * 1024
/** Positive, so that a slow body can't hold a connection for ever; streams lift it for themselves. */
const IDLE_TIMEOUT_S = 30
/** From "not ready" to closing the door: callers that keep connections open are told to leave them with their next answer. */
const LEAVE_MS = 200

/**
 * Listens, and ends in order: on SIGTERM, SIGINT, or the supervisor's death it stops being ready, lets open requests finish for
 * `drainMs`, then runs the closing steps. Returns the port.
 */
export function runService(options: RunOptions): number {
  const { log } = options
  const state = { draining: false }
  let port = options.port
  const servers = options.hosts.map(hostname => {
    const server = Bun.serve({
      port,
      hostname,
      idleTimeout: IDLE_TIMEOUT_S,
      maxRequestBodySize: BODY_MAX_BYTES,
      reusePort: false,
      // Else Bun prints what breaks a stream, with the addresses of services, to standard error.
      development: false,
      fetch: async (request, server) => {
        const answer = await answerTo(request, server, options, state.draining)
        if (state.draining) answer.headers.set('connection', 'close')
        return answer
      },
    })
    port = server.port ?? port
    return server
  })
  if (options.opsPort !== undefined) servers.push(serveOps(options.opsPort, options, state))

  const end = once(async (reason: string, code: number) => {
    log.info({ reason }, 'ending')
    state.draining = true
    if (options.fetch) await Bun.sleep(LEAVE_MS)
    await Promise.race([Promise.all(servers.map(server => server.stop())), Bun.sleep(options.drainMs)])
    await Promise.all(servers.map(server => server.stop(true)))
    for (const step of options.close)
      await Promise.resolve(step()).catch(err => log.warn({ err }, 'a closing step failed'))
    log.flush()
    process.exit(code)
  })

  process.on('SIGTERM', () => end('SIGTERM', 0))
  process.on('SIGINT', () => end('SIGINT', 0))
  process.on('unhandledRejection', err => log.error({ err }, 'a promise was left rejected'))
  process.on('uncaughtException', err => {
    log.fatal({ err }, 'an error nobody caught')
    end('uncaught', 1)
  })
  if (options.supervised) endWithSupervisor(() => end('the supervisor is gone', 0))
  log.info({ port, hosts: options.hosts }, 'listening')
  return port
}

async function answerTo(
  request: Request,
  server: Server<undefined>,
  options: RunOptions,
  draining: boolean,
): Promise<Response> {
  const health = opsAnswer(request, options, draining)
  if (health) return options.finishHealth?.(request, await health) ?? health
  return options.fetch?.(request, server) ?? new Response(null, { status: 404 })
}

function serveOps(port: number, options: RunOptions, state: { draining: boolean }): Server<undefined> {
  return Bun.serve({
    port,
    hostname: options.hosts[0] ?? '127.0.0.1',
    reusePort: false,
    development: false,
    fetch: request =>
      opsAnswer(request, { ...options, metricsHere: true }, state.draining) ?? new Response(null, { status: 404 }),
  })
}

/** The supervisor holds the other end of standard input; it closes when the supervisor dies, however it dies. */
function endWithSupervisor(end: () => void): void {
  process.stdin.on('end', end).on('close', end).on('error', end)
  process.stdin.resume()
}

function once(end: (reason: string, code: number) => Promise<void>): (reason: string, code: number) => void {
  let ending = false
  return (reason, code) => {
    if (ending) return
    ending = true
    void end(reason, code)
  }
}
