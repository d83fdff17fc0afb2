import { randomInt } from 'node:crypto'

/**
 * Below the ports that Linux (32768 up) and macOS (49152 up) give to outgoing connections. A service that dies must find
 * its port free again, and one of the thousands of connections of a load test would take it.
 */
const FIRST_PORT = 20_000
const LAST_PORT = 32_000
const MAX_TRIES = 200

/** True when a server could listen on the port of this loopback address now. */
export function portIsFree(port: number, hostname = '127.0.0.1'): boolean {
  try {
    Bun.listen({ hostname, port, socket: { data() {} } }).stop(true)
    return true
  } catch {
    return false
  }
}

/** A free port, with `adjacent` free ones after it. Random, so that stacks that start together don't meet. */
export function freePort({ adjacent = 0 } = {}): number {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    const first = randomInt(FIRST_PORT, LAST_PORT - adjacent)
    const ports = Array.from({ length: adjacent + 1 }, (_, offset) => first + offset)
    if (ports.every(port => portIsFree(port))) return first
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${LAST_PORT}`)
}
