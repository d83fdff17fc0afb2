import { hash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32
const wellFormed = /^[A-Za-z0-9_-]{43}$/

/** A fresh session token: 256 random bits, base64url. It means nothing by itself; the cookie carries it. */
export function newSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** Whether a cookie's value can be a session token at all: what is not is refused without a look-up. */
export function isWellFormedSession(token: string): boolean {
  return wellFormed.test(token)
}

/** SHA-256 of a session token, base64url without padding: all that is stored or sent of it. */
export function hashSession(token: string): string {
  return hash('sha256', token, 'base64url')
}
