import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { hashKey, isWellFormedKey, KEY_RANDOM_BYTES, newKeySecret } from './key-format.ts'

const bytes = fc.uint8Array({ minLength: KEY_RANDOM_BYTES, maxLength: KEY_RANDOM_BYTES })

test('the format stays what callers hold: a known key from known bytes', () => {
  expect(newKeySecret(new Uint8Array(32))).toBe(`svc_live_${'0'.repeat(43)}297tdY`)
  expect(newKeySecret(new Uint8Array(32).fill(255))).toMatch(/^svc_live_[0-9A-Za-z]{49}$/)
  expect(() => newKeySecret(new Uint8Array(31))).toThrow('32 random bytes')
})

test('every key that we make is well formed, and different bytes make different keys', () => {
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect(isWellFormedKey(newKeySecret(a))).toBe(true)
      expect(newKeySecret(a) === newKeySecret(b)).toBe(Buffer.compare(a, b) === 0)
    }),
  )
})

test('a typo anywhere in a key is refused without a look-up', () => {
  const key = newKeySecret(crypto.getRandomValues(new Uint8Array(KEY_RANDOM_BYTES)))
  for (let at = 0; at < key.length; at++) {
    const typo = key[at] === 'x' ? 'y' : 'x'
    expect(isWellFormedKey(key.slice(0, at) + typo + key.slice(at + 1))).toBe(false)
    expect(isWellFormedKey(key.slice(0, at) + key.slice(at + 1))).toBe(false)
  }
  for (const text of [
    '',
    'svc_live_',
    ` ${key}`,
    `${key} `,
    `${key}\n`,
    key.toUpperCase(),
    key.replace('live', 'test'),
  ]) {
    expect(isWellFormedKey(text)).toBe(false)
  }
})

test('the hash is the SHA-256 of the whole key, base64url', () => {
  expect(hashKey('svc_live_x')).toBe(createHash('sha256').update('svc_live_x').digest('base64url'))
  expect(hashKey('svc_live_x')).toMatch(/^[A-Za-z0-9_-]{43}$/)
})
