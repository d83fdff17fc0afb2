import { expect, test } from 'bun:test'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { eventDecoder, type ServerEvent } from './sse.ts'

function decode(pieces: Uint8Array[]): ServerEvent[] {
  const decoder = eventDecoder()
  return [...pieces.flatMap(piece => decoder.push(piece)), ...decoder.end()]
}

/** The same by a parser that is not ours. */
function decodeElsewhere(text: string): ServerEvent[] {
  const events: ServerEvent[] = []
  const parser = createParser({ onEvent: ({ event, data }) => events.push({ name: event ?? '', data }) })
  parser.feed(text)
  return events
}

const line = fc.oneof(
  fc.constantFrom(
    'data: {"a":1}',
    'data:x',
    'data',
    'data: ',
    'data:  two spaces',
    ': comment',
    ':',
    'event: error',
    'event:',
    'id: 7',
    'retry: 5',
    'other: y',
    'data: Grüße 🦀 河',
    '',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map(text => text.replaceAll(/[\r\n\ufeff]/g, '')),
)
const stream = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\n\n')), { maxLength: 30 })
  .map(lines => `${lines.flat().join('')}\n\n`)

test('any stream, cut anywhere, has the events that an independent parser finds', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), { maxLength: 10 }), (text, cuts) => {
      const bytes = Buffer.from(text)
      const places = [0, ...cuts.map(cut => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
      const pieces = places.slice(1).map((place, index) => bytes.subarray(places[index], place))
      expect(decode(pieces)).toEqual(decodeElsewhere(text))
    }),
    { numRuns: 2_000 },
  )
})

test('single bytes, CR alone, a byte order mark, and an end without a blank line', () => {
  const bytewise = (text: string) => decode([...Buffer.from(text)].map(byte => Uint8Array.of(byte)))
  expect(bytewise('data: ü🦀\r\rdata: b\r\n\r\ndata: c')).toEqual(['ü🦀', 'b', 'c'].map(data => ({ name: '', data })))
  expect(bytewise('\ufeffdata: a\n\n')).toEqual([{ name: '', data: 'a' }])
  expect(bytewise('data: a\ndata: b\n\n')).toEqual([{ name: '', data: 'a\nb' }])
})

test('what is no UTF-8, and an event without end, throw', () => {
  expect(() => decode([Uint8Array.of(...Buffer.from('data: '), 0xff, 10, 10)])).toThrow()
  const decoder = eventDecoder()
  const line = Buffer.alloc(1024 * 1024, 'x')
  expect(() => {
    for (let count = 0; count < 20; count++) decoder.push(line)
  }).toThrow('exceeds')
})
