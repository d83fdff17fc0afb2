import bs58 from 'bs58'

const ADDRESS_BYTES = 32
const SIGNATURE_BYTES = 64

/** The field of ed25519, 2^255 − 19. */
const P = 2n ** 255n - 19n
const SIGN_BIT = 2n ** 255n

/**
 * The y coordinates of the eight points of small order. Under such a key one fixed signature passes for every message, or
 * for a share of them, in tweetnacl and OpenSSL alike; 0 is the System Program's address, which anyone may try.
 */
const smallOrderY = new Set([
  0n,
  1n,
  P - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
])

/** The public key that a wallet address writes; null for anything that no wallet can own and sign for. */
export function publicKeyOf(address: string): Uint8Array | null {
  const key = bytesOf(address)
  return key?.length === ADDRESS_BYTES && isProperPoint(key) ? key : null
}

/** The 64 bytes of a base58 signature; null for anything else. */
export function signatureOf(text: string): Uint8Array | null {
  const signature = bytesOf(text)
  return signature?.length === SIGNATURE_BYTES ? signature : null
}

/** Bytes of a base58 text; null for spaces, look-alikes and other alphabets. Base58 has one way to write each value. */
export function bytesOf(text: string): Uint8Array | null {
  return bs58.decodeUnsafe(text) ?? null
}

/** Neither of small order nor a second way to write a smaller y, whatever the sign bit. */
function isProperPoint(key: Uint8Array): boolean {
  const y = BigInt(`0x${Buffer.from(key).reverse().toString('hex')}`) % SIGN_BIT
  return y < P && !smallOrderY.has(y)
}
