import { expect, test } from 'bun:test'
import { isAcceptableHost, pathStartOf } from './host.ts'

test('a URL whose path Elysia would look for elsewhere has no path', () => {
  const cases: [url: string, start: number | null][] = [
    ['http://gate.example/keys', 19],
    ['http://a.bc/keys', 11],
    ['http://[::1]/keys', 12],
    ['http://x/keys/abcdef', null],
    ['http://a.b/v1/keys/7', null],
    ['/keys', null],
    ['//gate.example/keys', null],
    ['http://gate.example', null],
    ['https://gate.example/keys', null],
    ['', null],
  ]
  for (const [url, start] of cases) expect(pathStartOf(url), url).toBe(start)
})

test('an empty list allows every well-formed host; a list allows its own, with any port where it names none', () => {
  const all = new Set<string>()
  for (const host of ['gate.example', '127.0.0.1:8080', '[::1]', '[2001:db8::1]:443', 'localhost', 'a_b.c']) {
    expect(isAcceptableHost(host, all), host).toBe(true)
  }
  for (const host of [
    null,
    '',
    'abc',
    '.abcd',
    'a b.example',
    'gate.example:',
    'gate.example:123456',
    '[gate]',
    '-abc.d',
  ]) {
    expect(isAcceptableHost(host, all), String(host)).toBe(false)
  }
  const own = new Set(['gate.example', 'other.example:8443'])
  expect(isAcceptableHost('GATE.example:1', own)).toBe(true)
  expect(isAcceptableHost('other.example:8443', own)).toBe(true)
  expect(isAcceptableHost('other.example', own)).toBe(false)
})
