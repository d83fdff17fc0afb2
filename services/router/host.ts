/** A DNS name, an IPv4 or a bracketed IPv6 address, with a port at most. A list ("a, b": two Host headers) is none of these. */
const grammar = /^(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9][A-Za-z0-9._-]{3,252})(?::([0-9]{1,5}))?$/

/** Elysia looks for the path from this character on, so a URL whose host is shorter would be routed by another path. */
const PATH_AT_LEAST = 11

/**
 * Whether the Host header names a host that we may be called by. An empty set allows every well-formed one; entries are
 * lower case, with a port only where the port matters.
 */
export function isAcceptableHost(host: string | null, allowed: ReadonlySet<string>): boolean {
  const match = host === null ? null : grammar.exec(host)
  if (!match) return false
  if (allowed.size === 0) return true
  const [whole, name = ''] = match
  return allowed.has(whole.toLowerCase()) || allowed.has(name.toLowerCase())
}

/** Where the path begins in a request's URL; null where Elysia would look for it elsewhere. */
export function pathStartOf(url: string): number | null {
  const start = url.indexOf('/', 'http://'.length)
  return url.startsWith('http://') && start >= PATH_AT_LEAST ? start : null
}
