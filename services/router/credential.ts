import { hashKey, hashSession, isWellFormedKey, isWellFormedSession, SESSION_COOKIE } from '@tollgate/contracts'

/** What a request shows of who it is. `invalid` is no credential of ours: nothing is looked up for it. */
export type Credential =
  | { kind: 'none' }
  | { kind: 'invalid' }
  | { kind: 'key'; hash: string }
  | { kind: 'session'; hash: string }

const none: Credential = { kind: 'none' }
const invalid: Credential = { kind: 'invalid' }

/** The scheme in any case, one space, one token. Two Authorization headers arrive as one, joined by a comma and a space. */
const bearer = /^bearer (\S+)$/i

/**
 * Reads the credential of a request. An Authorization header counts alone: a bad one is never rescued by a cookie.
 */
export function readCredential(headers: Headers): Credential {
  const authorization = headers.get('authorization')
  if (authorization !== null) {
    const key = bearer.exec(authorization)?.[1]
    return key !== undefined && isWellFormedKey(key) ? { kind: 'key', hash: hashKey(key) } : invalid
  }
  const cookie = headers.get('cookie')
  if (cookie === null) return none
  const token = sessionTokenOf(cookie)
  if (token === null) return none
  return token !== '' && isWellFormedSession(token) ? { kind: 'session', hash: hashSession(token) } : invalid
}

/** Whether the session cookie would be the credential: what CSRF is about. */
export function isByCookie(headers: Headers): boolean {
  if (headers.get('authorization') !== null) return false
  const cookie = headers.get('cookie')
  return cookie !== null && sessionTokenOf(cookie) !== null
}

/** The session cookie's value; null without one, empty with two: which of them a parent domain planted can't be known. */
function sessionTokenOf(cookie: string): string | null {
  let found: string | null = null
  for (const pair of cookie.split(';')) {
    const equals = pair.indexOf('=')
    if (equals < 0 || pair.slice(0, equals).trim() !== SESSION_COOKIE) continue
    if (found !== null) return ''
    found = pair.slice(equals + 1).trim()
  }
  return found
}
