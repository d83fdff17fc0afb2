import { isUtf8 } from 'node:buffer'
import { PublicError } from '@tollgate/contracts'

/** Deeper than any body of ours; JSON.parse takes 200,000 levels, and what walks the result does not. */
const DEPTH_MAX = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

/** Refuses bytes that are not UTF-8 (parsers replace them silently) and JSON that is nested too deep. */
export function checkJsonShape(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) throw new PublicError('bad_request', 'the body must be UTF-8')
  if (isTooDeep(bytes)) throw new PublicError('bad_request', `the body is nested deeper than ${DEPTH_MAX} levels`)
}

/** Counts brackets outside of strings; whether it is JSON at all, the service finds out. */
function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) inString = !inString
    else if (inString) at += byte === BACKSLASH ? 1 : 0
    else if (OPENING.has(byte) && ++depth > DEPTH_MAX) return true
    else if (CLOSING.has(byte)) depth--
  }
  return false
}
