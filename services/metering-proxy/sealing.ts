import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** What a caller repeats: its key, within its account and API key. */
export interface Repeat {
  readonly account: string
  readonly apiKey: string | null
  readonly idempotencyKey: string
}

/**
 * Seals what is kept for a repeat. The sealing key is made of our secret and the caller's idempotency key, which is stored
 * nowhere: neither the store nor the secret alone opens an answer.
 */
export interface Seal {
  /** Under which a repeat's record is kept; says nothing of what it is made of. */
  readonly name: string
  /** Of the request's body: equal for the same body only, and of no use to who would guess it. */
  fingerprint(body: Uint8Array): string
  matches(fingerprint: string, body: Uint8Array): boolean
  /** `place` binds the sealed bytes to where they are kept. */
  seal(bytes: Uint8Array, place: string): Uint8Array
  /** Throws when the bytes were changed, or sealed for another place or with a secret that is gone. */
  open(sealed: Uint8Array, place: string): Uint8Array
}

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** `secrets`, newest first: the first seals, all open. */
export function sealFor({ account, apiKey, idempotencyKey }: Repeat, secrets: readonly string[]): Seal {
  const salt = JSON.stringify([account, apiKey, idempotencyKey])
  const keys = secrets.map(secret => Buffer.from(hkdfSync('sha256', secret, salt, 'kept answer', KEY_BYTES)))
  const [newest] = keys
  if (!newest) throw new Error('no secret to seal with')
  const print = (key: Buffer, body: Uint8Array) => createHmac('sha256', key).update(body).digest()

  return {
    name: createHash('sha256').update(salt).digest('base64url'),
    fingerprint: body => print(newest, body).toString('base64url'),
    matches(fingerprint, body) {
      const given = Buffer.from(fingerprint, 'base64url')
      return keys.some(key => given.length === KEY_BYTES && timingSafeEqual(print(key, body), given))
    },
    seal(bytes, place) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, newest, iv).setAAD(Buffer.from(place))
      return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
    },
    open(sealed, place) {
      for (const key of keys) {
        const opened = openWith(key, Buffer.from(sealed), place)
        if (opened) return opened
      }
      throw new Error('a kept answer does not open')
    },
  }
}

function openWith(key: Buffer, sealed: Buffer, place: string): Buffer | null {
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(place))
      .setAuthTag(sealed.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return null
  }
}
