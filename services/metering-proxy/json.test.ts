import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseBody } from './json.ts'

const parse = (text: string) => parseBody(Buffer.from(text))

test('any object comes through as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 8 })), object => {
      const text = JSON.stringify(object)
      expect(parse(text)).toEqual(JSON.parse(text))
    }),
  )
})

test('brackets and quotes inside of strings are not structure', () => {
  const text = `${'['.repeat(200)}\\"${'{'.repeat(200)}\\\\`
  expect(parse(`{"a":"${text}","b":["\\\\"]}`)).toEqual(JSON.parse(`{"a":"${text}","b":["\\\\"]}`))
})

test('a body that is not a sensible JSON object is refused, whatever its size', () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
  expect(parse(nested(99))).toBeDefined()
  const bodies = [
    '',
    '{',
    '[]',
    'null',
    '1',
    '"x"',
    '{"a":}',
    '{"a":"',
    '{"a":"\\',
    nested(100),
    nested(200_000),
    '['.repeat(10_000_000),
    `{"a":[${'{},'.repeat(300_000)}{}]}`,
  ]
  for (const body of bodies) expect(() => parse(body)).toThrow()
  expect(() => parseBody(Uint8Array.of(...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')))).toThrow('UTF-8')
})
