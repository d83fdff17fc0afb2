import { expect, test } from 'bun:test'
import { newId } from '@tollgate/contracts'
import { readIdentity, signIdentity } from './index.ts'

const now = 1_700_000_000_000
const claims = {
  aud: 'keys',
  acct: newId('account'),
  usr: newId('user'),
  key: null,
  session: newId('session'),
  models: null,
  rid: newId('request'),
}
const current = { secrets: ['new secret'] }

test('what the router signed is what the service reads', () => {
  const identity = readIdentity(signIdentity(claims, current, now), 'keys', current, now)
  expect(identity).toMatchObject(claims)
})

test('a header signed with the secret before the rotation is still accepted', () => {
  const header = signIdentity(claims, { secrets: ['old secret'] }, now)
  expect(readIdentity(header, 'keys', { secrets: ['new secret', 'old secret'] }, now)).not.toBeNull()
  expect(readIdentity(header, 'keys', current, now)).toBeNull()
})

test('a header for another service, an expired, forged or broken one is nobody', () => {
  const header = signIdentity(claims, current, now)
  const [payload = '', signature = ''] = header.split('.')
  const other = Buffer.from(JSON.stringify({ v: 1, ...claims, acct: newId('account'), exp: now + 1 })).toString(
    'base64url',
  )
  expect(readIdentity(header, 'billing', current, now)).toBeNull()
  expect(readIdentity(header, 'keys', current, now + 60_001)).toBeNull()
  for (const forged of [
    null,
    '',
    '.',
    payload,
    `${other}.${signature}`,
    `${payload}.`,
    `${header}.x`,
    `${payload}.AAAA`,
  ]) {
    expect(readIdentity(forged, 'keys', current, now)).toBeNull()
  }
})
