import { SESSION_COOKIE } from '@tollgate/contracts'

const DAY_MS = 86_400_000

/** A session ends this long after its last use … */
export const SESSION_IDLE_MS = 7 * DAY_MS
/** … and this long after its sign-in, however much it is used. */
export const SESSION_LIFE_MS = 30 * DAY_MS
/** A use moves the end at most this often: a write a minute and session, not one a request. */
export const SLIDE_EVERY_MS = 60_000
/** Live sessions of one user; a sign-in beyond them ends the one that was used the longest ago. */
export const MAX_SESSIONS = 50

export interface CookieOptions {
  partitioned: boolean
}

/**
 * The `Set-Cookie` value of a session (interface.md, "Wallet session"). It lives as long as a session can; when the session
 * ends earlier, the database says so. Written here: Elysia's own cookies leave out `Partitioned` where they clear one.
 */
export function sessionCookie(token: string, options: CookieOptions): string {
  return cookie(token, SESSION_LIFE_MS / 1_000, options)
}

export function clearedCookie(options: CookieOptions): string {
  return cookie('', 0, options)
}

function cookie(value: string, maxAgeSeconds: number, { partitioned }: CookieOptions): string {
  const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; Secure; SameSite=None`
  return `${SESSION_COOKIE}=${value}; ${attributes}${partitioned ? '; Partitioned' : ''}`
}
