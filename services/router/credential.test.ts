import { expect, test } from 'bun:test'
import { hashKey, hashSession, newKeySecret, newSessionToken } from '@tollgate/contracts'
import { isByCookie, readCredential } from './credential.ts'

const key = newKeySecret(new Uint8Array(32).fill(7))
const token = newSessionToken()

function read(headers: Record<string, string>) {
  return readCredential(new Headers(headers))
}

test('one well-formed bearer key, with the scheme in any case', () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    expect(read({ authorization: `${scheme} ${key}` })).toEqual({ kind: 'key', hash: hashKey(key) })
  }
})

test('anything else in Authorization is no credential, and nothing is looked up for it', () => {
  const typo = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x')
  for (const authorization of [
    '',
    'Bearer',
    key,
    `Basic ${key}`,
    `Bearer  ${key}`,
    `Bearer\t${key}`,
    `Bearer ${key}, Bearer ${key}`,
    `Bearer ${key},`,
    `Bearer ${key} x`,
    `Bearer "${key}"`,
    `Bearer ${typo}`,
    `Bearer ${key.toUpperCase()}`,
    `Bearer ${'a'.repeat(10_000)}`,
    'Bearer svc_live_',
  ]) {
    expect(read({ authorization }), authorization.slice(0, 80)).toEqual({ kind: 'invalid' })
  }
})

test('a bad bearer is never rescued by a good cookie', () => {
  expect(read({ authorization: 'Bearer svc_live_bad', cookie: `svc_session=${token}` })).toEqual({ kind: 'invalid' })
})

test('the session cookie among others', () => {
  const session = { kind: 'session', hash: hashSession(token) } as const
  expect(read({ cookie: `svc_session=${token}` })).toEqual(session)
  expect(read({ cookie: `a=1; svc_session=${token}; b=svc_session=x` })).toEqual(session)
  expect(read({ cookie: `a=1;svc_session=${token} ;` })).toEqual(session)
  expect(read({ cookie: Array.from({ length: 2_000 }, (_, n) => `c${n}=1`).join('; ') })).toEqual({ kind: 'none' })
})

test('a cookie that is tossed, doubled or junk is no credential', () => {
  for (const cookie of [
    `svc_session=${token}; svc_session=${token}`,
    `svc_session=${token}; svc_session=planted`,
    `svc_session=; svc_session=${token}`,
    'svc_session=',
    `svc_session="${token}"`,
    'svc_session={"a":1}',
    `svc_session=${token}x`,
    `svc_session=%${token.slice(1)}`,
    `svc_session=${'a'.repeat(8_000)}`,
  ]) {
    expect(read({ cookie }), cookie.slice(0, 60)).toEqual({ kind: 'invalid' })
    expect(isByCookie(new Headers({ cookie }))).toBe(true)
  }
  for (const cookie of ['', 'svc_session', `SVC_SESSION=${token}`, `xsvc_session=${token}`, `svc_session_=${token}`]) {
    expect(read({ cookie }), cookie).toEqual({ kind: 'none' })
  }
})
