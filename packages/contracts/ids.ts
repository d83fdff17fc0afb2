import { Type } from '@sinclair/typebox'

/** What an id names, by its prefix. */
export const idPrefixes = {
  account: 'acct',
  user: 'usr',
  key: 'key',
  session: 'ses',
  request: 'req',
  intent: 'int',
} as const

export type IdKind = keyof typeof idPrefixes
export type Id<K extends IdKind> = `${(typeof idPrefixes)[K]}_${string}`

const ID_RANDOM_BYTES = 16
const TIME_BYTES = 6

/**
 * A fresh id of 128 random bits, such as `key_4f0c…`. A request's begins with its time (48 bits of ms, then 80 random ones):
 * the ledger's operations are named after requests, and ids in order cost its indexes a third less than random ones.
 */
export function newId<K extends IdKind>(kind: K): Id<K> {
  if (kind === 'request') return `${idPrefixes[kind]}_${hexOfNow()}${randomHex(ID_RANDOM_BYTES - TIME_BYTES)}`
  return `${idPrefixes[kind]}_${randomHex(ID_RANDOM_BYTES)}`
}

/** So many random bytes, in hexadecimal digits. */
export function randomHex(bytes: number): string {
  return crypto.getRandomValues(new Uint8Array(bytes)).toHex()
}

function hexOfNow(): string {
  return Date.now()
    .toString(16)
    .padStart(2 * TIME_BYTES, '0')
}

/** The schema of an id of this kind. */
export function idSchema<K extends IdKind>(kind: K) {
  return Type.Unsafe<Id<K>>(Type.String({ pattern: idPattern(kind) }))
}

function idPattern(kind: IdKind): string {
  return `^${idPrefixes[kind]}_[0-9a-zA-Z]{1,64}$`
}

/** Whether a text, of a path say, can be an id of this kind at all. */
export function isId<K extends IdKind>(kind: K, text: string): text is Id<K> {
  return new RegExp(idPattern(kind)).test(text)
}

export const AccountId = idSchema('account')
export const UserId = idSchema('user')
export const KeyId = idSchema('key')
export const SessionId = idSchema('session')
export const RequestId = idSchema('request')
export type AccountId = Id<'account'>
export type UserId = Id<'user'>
export type KeyId = Id<'key'>
export type SessionId = Id<'session'>
export type RequestId = Id<'request'>
