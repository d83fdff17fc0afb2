import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'

const PREFIX = 'svc_live_'
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 256 random bits: nobody guesses one, so that a single SHA-256 is enough to store it. */
export const KEY_RANDOM_BYTES = 32
/** 62^43 > 2^256 and 62^6 > 2^32: what it takes to write the random bits and their CRC32. */
const SECRET_CHARS = 43
const CHECKSUM_CHARS = 6
const wellFormed = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_CHARS + CHECKSUM_CHARS}}$`)
const CHECKSUM_AT = PREFIX.length + SECRET_CHARS

/**
 * Writes `KEY_RANDOM_BYTES` random bytes as a key: prefix, secret in base62, checksum in base62. The checksum is over prefix
 * and secret, so that a typo is refused without a look-up and a scanner can tell a leaked key from noise (GitHub's token format).
 */
export function newKeySecret(bytes: Uint8Array): string {
  if (bytes.length !== KEY_RANDOM_BYTES) throw new RangeError(`a key takes ${KEY_RANDOM_BYTES} random bytes`)
  const secret = base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), SECRET_CHARS)
  return `${PREFIX}${secret}${checksum(`${PREFIX}${secret}`)}`
}

/** Whether a text can be a key at all. False for anything that `newKeySecret` never wrote, except one text in 2^32. */
export function isWellFormedKey(text: string): boolean {
  return wellFormed.test(text) && checksum(text.slice(0, CHECKSUM_AT)) === text.slice(CHECKSUM_AT)
}

/** SHA-256 of a full key, base64url without padding: all that is stored or sent of it. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'base64url')
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_CHARS)
}

/** Most significant digit first, padded to `length`. */
function base62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; digits.length < length; rest /= 62n) digits = BASE62[Number(rest % 62n)] + digits
  return digits
}
