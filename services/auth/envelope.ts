/**
 * Some wallets sign an envelope around the text: Ledgers the off-chain message format, version 0 (docs.anza.xyz, "Off-Chain
 * Message Signing"), in its older and its present header. The text is all of what they enclose. A text that only contains ours
 * is refused: a page could put its own domain line above our message, and the wallet would warn of nothing.
 */

/** 0xff can't begin a transaction, so a signed envelope never is one. */
const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1')
const VERSION = 0
/** Restricted ASCII and UTF-8, both of lengths that a hardware wallet shows. The third is for longer texts than ours. */
const FORMATS = [0, 1]
const APPLICATION_DOMAIN_BYTES = 32
const KEY_BYTES = 32

/** Whether the signed bytes are the text itself, or an envelope made for this signer around exactly it. */
export function encloses(signed: Uint8Array, text: Uint8Array, signer: Uint8Array): boolean {
  const bytes = Buffer.from(signed)
  return bytes.equals(text) || isOlderEnvelope(bytes, text) || isPresentEnvelope(bytes, text, signer)
}

/** Domain, version, format, length, text. */
function isOlderEnvelope(signed: Buffer, text: Uint8Array): boolean {
  return FORMATS.some(format =>
    signed.equals(Buffer.concat([SIGNING_DOMAIN, Buffer.from([VERSION, format]), lengthOf(text), text])),
  )
}

/** Domain, version, application domain, format, number of signers, signers, length, text. */
function isPresentEnvelope(signed: Buffer, text: Uint8Array, signer: Uint8Array): boolean {
  const formatAt = SIGNING_DOMAIN.length + 1 + APPLICATION_DOMAIN_BYTES
  const [format = -1, signers = 0] = signed.subarray(formatAt, formatAt + 2)
  const signersAt = formatAt + 2
  const textAt = signersAt + signers * KEY_BYTES
  const named = Array.from({ length: signers }, (_, i) =>
    signed.subarray(signersAt + i * KEY_BYTES).subarray(0, KEY_BYTES),
  )
  return (
    signed.subarray(0, SIGNING_DOMAIN.length).equals(SIGNING_DOMAIN) &&
    signed[SIGNING_DOMAIN.length] === VERSION &&
    FORMATS.includes(format) &&
    named.some(key => key.equals(signer)) &&
    signed.subarray(textAt).equals(Buffer.concat([lengthOf(text), text]))
  )
}

function lengthOf(text: Uint8Array): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16LE(text.length)
  return length
}
