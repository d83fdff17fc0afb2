import { createHash, randomBytes } from 'node:crypto'
import { type Bucket, fromBytes, toBytes } from '@tollgate/bus'
import { MESSAGE_MAX_BYTES, signInMessage } from './message.ts'

/** Life of a nonce. Wallets warn of texts older than ten minutes. */
export const NONCE_TTL_MS = 5 * 60_000
const NONCE_BYTES = 16

/** What a nonce is bound to: it is good for this wallet on this page and nowhere else. */
export interface NonceFor {
  nonce: string
  address: string
  origin: string
}

/** The exact text that was given out to sign. */
interface Kept {
  message: string
  expiresAtMs: number
}

export interface Nonces {
  give(to: { address: string; origin: string }): Promise<{ nonce: string; message: string }>
  /** The text given out with the nonce. Of any number of parallel takers one gets it; null for all others, and when it is too old. */
  take(from: NonceFor): Promise<string | null>
}

export function openNonces(bucket: Bucket, chainId: string, now: () => number = Date.now): Nonces {
  return {
    async give({ address, origin }) {
      const nonce = randomBytes(NONCE_BYTES).toString('hex')
      const issuedAtMs = now()
      const expiresAtMs = issuedAtMs + NONCE_TTL_MS
      const message = signInMessage({ origin, address, chainId, nonce, issuedAtMs, expiresAtMs })
      if (Buffer.byteLength(message) >= MESSAGE_MAX_BYTES) throw new Error('the text to sign is too long for a Ledger')
      await bucket.put(bucketKey({ nonce, address, origin }), toBytes({ message, expiresAtMs } satisfies Kept))
      return { nonce, message }
    },

    async take(from) {
      const bytes = await bucket.take(bucketKey(from))
      if (!bytes) return null
      const kept = fromBytes(bytes) as Kept // written by `give`, and by nobody else: the bucket is auth's own
      return kept.expiresAtMs > now() ? kept.message : null
    },
  }
}

/**
 * Wallet and origin are part of the key, so that an attempt with others finds nothing and uses nothing up. A digest, since
 * what a caller sends may hold what a subject can't.
 */
function bucketKey({ nonce, address, origin }: NonceFor): string {
  return createHash('sha256')
    .update(JSON.stringify([nonce, address, origin]))
    .digest('base64url')
}
