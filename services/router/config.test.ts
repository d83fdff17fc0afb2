import { expect, test } from 'bun:test'
import { defaultLimits } from '@tollgate/contracts'
import { readConfig, readLimits } from './config.ts'

const needed = {
  IDENTITY_SECRETS: 'new,old',
  AUTH_URLS: 'http://auth:3001',
  KEYS_URLS: 'http://127.0.0.1:1,http://127.0.0.1:2',
  BILLING_URLS: 'http://[::1]:3000',
  METERING_PROXY_URLS: 'http://metering-proxy',
}

test('limits are those of the contract unless the setting overrides a count or a window', () => {
  expect(readConfig(needed).LIMITS).toEqual(defaultLimits)
  expect(readLimits('{"chat":{"count":100000},"nonce":{"windowMs":1500}}')).toEqual({
    ...defaultLimits,
    chat: { ...defaultLimits.chat, count: 100_000 },
    nonce: { ...defaultLimits.nonce, windowMs: 1_500 },
  })
})

test('a limit that is none is refused', () => {
  for (const text of [
    '',
    'null',
    '[]',
    '{"chats":{"count":1}}',
    '{"chat":5}',
    '{"chat":{"count":0}}',
    '{"chat":{"count":1.5}}',
    '{"chat":{"count":"60"}}',
    '{"chat":{"per":"ip"}}',
    '{"__proto__":{"count":1}}',
    '{"constructor":{"count":1}}',
  ]) {
    expect(() => readLimits(text), text).toThrow()
  }
})

test('all problems are reported together', () => {
  const wrong = {
    ...needed,
    ALLOWED_ORIGINS: 'https://app.example/',
    KEYS_URLS: 'https://keys',
    AUTH_URLS: '',
    LIMITS: '{',
  }
  expect(() => readConfig(wrong)).toThrow(/(?=.*ALLOWED_ORIGINS)(?=.*KEYS_URLS)(?=.*AUTH_URLS)(?=.*LIMITS)/s)
})

test('origins are exact: no path, no wildcard, no null, no missing scheme', () => {
  const read = (origins: string) => readConfig({ ...needed, ALLOWED_ORIGINS: origins }).ALLOWED_ORIGINS
  expect([...read('https://app.example, http://localhost:3000')]).toEqual([
    'https://app.example',
    'http://localhost:3000',
  ])
  for (const bad of [
    'app.example',
    'https://app.example/x',
    '*',
    'https://*.example',
    'null',
    'HTTPS://APP.example',
    'https://app.example:443',
  ]) {
    expect(() => read(bad), bad).toThrow('ALLOWED_ORIGINS')
  }
})
