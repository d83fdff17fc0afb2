import { expect, test } from 'bun:test'
import bs58 from 'bs58'
import nacl from 'tweetnacl'
import { secondWays, smallOrder } from './odd-points.test-helpers.ts'
import { isSigned } from './signature.ts'
import { bytesOf, publicKeyOf, signatureOf } from './wallet.ts'

test('a wallet’s address is its key', () => {
  for (let wallets = 0; wallets < 50; wallets++) {
    const { publicKey } = nacl.sign.keyPair()
    expect(publicKeyOf(bs58.encode(publicKey))).toEqual(Uint8Array.from(publicKey))
  }
})

test('keys of small order are nobody’s, though a forged signature passes for them', () => {
  // R = identity, S = 0 fits the identity key for every text, in both libraries.
  const forged = Buffer.from(`01${'00'.repeat(63)}`, 'hex')
  const identity = smallOrder[0] ?? Buffer.alloc(0)
  const bytes = Buffer.from('any text')
  expect(nacl.sign.detached.verify(bytes, forged, identity)).toBe(true)
  expect(isSigned({ publicKey: identity, bytes, signature: forged })).toBe(true)
  for (const key of [...smallOrder, ...secondWays]) {
    expect({ key: key.toString('hex'), accepted: publicKeyOf(bs58.encode(key)) }).toEqual({
      key: key.toString('hex'),
      accepted: null,
    })
  }
})

test('32 and 64 bytes, and nothing else', () => {
  const of = (length: number) => bs58.encode(new Uint8Array(length).fill(7))
  for (const length of [0, 1, 31, 33, 64]) expect(publicKeyOf(of(length))).toBeNull()
  for (const length of [0, 32, 63, 65]) expect(signatureOf(of(length))).toBeNull()
  expect(publicKeyOf(of(32))).not.toBeNull()
  expect(signatureOf(of(64))).not.toBeNull()
})

test('base58 has one way to write a value, and look-alikes are not in it', () => {
  const text = bs58.encode(Buffer.from('some thirty-two bytes of a key!!'))
  for (const odd of [
    ` ${text}`,
    `${text} `,
    `${text}\n`,
    `\u0000${text}`,
    '0',
    'O',
    'I',
    'l',
    '+',
    '/',
    'а',
    '１',
    '١',
    'é',
  ]) {
    expect({ odd, bytes: bytesOf(odd) }).toEqual({ odd, bytes: null })
  }
  expect(bytesOf(text)).not.toBeNull()
})

test('only the key’s owner signs: a point that is none, or another text, never passes', () => {
  const pair = nacl.sign.keyPair()
  const bytes = Buffer.from('a text')
  const signature = nacl.sign.detached(bytes, pair.secretKey)
  expect(isSigned({ publicKey: pair.publicKey, bytes, signature })).toBe(true)
  expect(isSigned({ publicKey: pair.publicKey, bytes: Buffer.from('a text\n'), signature })).toBe(false)
  expect(isSigned({ publicKey: nacl.sign.keyPair().publicKey, bytes, signature })).toBe(false)
  // y = 2 is on no curve point: an address as programs have them.
  expect(isSigned({ publicKey: new Uint8Array(32).fill(2, 0, 1), bytes, signature })).toBe(false)
})
