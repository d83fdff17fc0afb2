import { PublicError } from '@tollgate/contracts'
import bs58 from 'bs58'

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

/** A reference public key, or 400. */
export function parseReference(text: string): string {
  return parse(text, KEY_BYTES, '"reference" must be a base58 public key')
}

/** A transaction signature, or 400. */
export function parseSignature(text: string): string {
  return parse(text, SIGNATURE_BYTES, '"signature" must be a base58 transaction signature')
}

function parse(text: string, bytes: number, message: string): string {
  const decoded = bs58.decodeUnsafe(text)
  if (decoded?.length !== bytes) throw new PublicError('bad_request', message)
  return text
}
