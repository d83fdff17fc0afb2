import { randomInt } from 'node:crypto'

/**
 * Below the ports that Linux (32768 up) and macOS (49152 up) give to outgoing connections. A service that dies must find
 * its port free again, and one of the thousands of connections of a load test would take it.
 */
const FIRST_PORT = 20_000
const LAST_PORT = 32_000
const MAX_TRIES = 200
/**
 * Until whoever was given a port listens on it, a listener of this name, which is no file, tells other processes that it is given.
 * Where such names don't exist (macOS), chance has to do.
 */
const guardName = (port: number) => `\0tollgate-port-${port}`
const GUARDED_MS = 30_000

/** True when a server could listen on the port of this loopback address now. */
export function portIsFree(port: number, hostname = '127.0.0.1'): boolean {
  try {
    Bun.listen({ hostname, port, socket: { data() {} } }).stop(true)
    return true
  } catch {
    return false
  }
}

/**
 * A free port, with `adjacent` free ones after it, that no other call on this machine is given for half a minute: a test run starts
 * hundreds of processes, some at the same time.
 */
export function freePort({ adjacent = 0 } = {}): number {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const first = randomInt(FIRST_PORT, LAST_PORT - adjacent)
    const ports = Array.from({ length: adjacent + 1 }, (_, offset) => first + offset)
    if (ports.every(port => portIsFree(port)) && ports.every(guarded)) return first
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT}`)
}

/** False when another call was given the port just now. */
function guarded(port: number): boolean {
  if (process.platform !== 'linux') return true
  try {
    const guard = Bun.listen({ unix: guardName(port), socket: { data() {} } })
    guard.unref()
    setTimeout(() => guard.stop(true), GUARDED_MS).unref()
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
  }
}
