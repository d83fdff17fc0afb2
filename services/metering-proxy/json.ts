import { PublicError } from '@tollgate/contracts'

export type Fields = Readonly<Record<string, unknown>>

/** Deeper than any tool schema; far from where writing the JSON again overflows the stack. */
const DEPTH_MAX = 100
/** Objects and arrays in one body: each costs memory that its two bytes don't show. */
const NODES_MAX = 200_000

const utf8 = new TextDecoder('utf-8', { fatal: true })
const [QUOTE, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\[]{}') as unknown as [
  number,
  number,
  number,
  number,
  number,
  number,
]

/** Parses a caller's body once. 400 when it is not UTF-8, not JSON, not an object, or nested beyond reason. */
export function parseBody(bytes: Uint8Array): Fields {
  checkShape(bytes)
  const value = parse(bytes)
  if (!isFields(value)) throw new PublicError('bad_request', 'the body must be a JSON object')
  return value
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw new PublicError('bad_request', 'the body must be JSON in UTF-8')
  }
}

/** Looks at brackets outside of strings only, and jumps over strings: a megabyte of image costs nothing. */
function checkShape(bytes: Uint8Array): void {
  let depth = 0
  let nodes = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at + 1)
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > DEPTH_MAX) throw new PublicError('bad_request', `the body is nested deeper than ${DEPTH_MAX}`)
      if (++nodes > NODES_MAX) throw new PublicError('bad_request', `the body has more than ${NODES_MAX} values`)
    }
  }
}

/** The index of the quote that ends a string; the last index when none does, which the parser then refuses. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let quote = bytes.indexOf(QUOTE, from); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let first = quote
    while (first > from && bytes[first - 1] === BACKSLASH) first--
    if ((quote - first) % 2 === 0) return quote
  }
  return bytes.length
}
