import { expect, test } from 'bun:test'
import { checkJsonShape } from './json-shape.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test('64 levels pass, 65 do not, and brackets in strings are no levels', () => {
  checkJsonShape(bytes('['.repeat(64) + ']'.repeat(64)))
  checkJsonShape(bytes('[{},{}]'.repeat(500)))
  checkJsonShape(bytes(JSON.stringify({ text: `${'['.repeat(200)}"\\${'{'.repeat(200)}` })))
  for (const deep of ['['.repeat(65), '{"a":'.repeat(65), `"\\""${'['.repeat(65)}`]) {
    expect(() => checkJsonShape(bytes(deep)), deep).toThrow('deeper')
  }
})

test('bytes that are not UTF-8 are refused, not replaced', () => {
  for (const wrong of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
    expect(() => checkJsonShape(new Uint8Array([0x22, ...wrong, 0x22]))).toThrow('UTF-8')
  }
  checkJsonShape(bytes('"žluťoučký 🦊"'))
})
