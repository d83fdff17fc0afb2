import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Fields, isFields } from '../../json.ts'
import { UpstreamFailure } from '../failure.ts'
import { ask, assembled, streamed, targetOf } from '../rig.ts'
import { anthropic } from './index.ts'

const reader = () => anthropic.reader(targetOf('claude'), ask({ stream: true }))
const words = fc.string({ unit: 'grapheme', maxLength: 12 })
const pieces = fc.array(words, { maxLength: 5 })
const tokens = fc.nat(1_000_000)

/** What a model says, block by block, each cut into pieces. */
const block = fc.oneof(
  pieces.map(texts => ({ type: 'text' as const, texts })),
  pieces.map(texts => ({ type: 'thinking' as const, texts })),
  fc.record({
    type: fc.constant('tool_use' as const),
    args: fc.dictionary(words, fc.oneof(words, fc.integer())),
    cuts: fc.array(fc.nat(200), { maxLength: 4 }),
  }),
  fc.constantFrom({ type: 'redacted_thinking' as const }, { type: 'server_tool_use' as const }),
)
type Block = typeof block extends fc.Arbitrary<infer T> ? T : never
/** Reports of usage, none to three; each may leave out what older models leave out. */
const usages = fc.array(
  fc.record(
    {
      input_tokens: tokens,
      cache_read_input_tokens: tokens,
      cache_creation_input_tokens: tokens,
      output_tokens: tokens,
    },
    { requiredKeys: ['output_tokens'] },
  ),
  { minLength: 1, maxLength: 3 },
)
const answer = fc.record({
  blocks: fc.array(block, { maxLength: 5 }),
  first: fc.record({ input_tokens: tokens, output_tokens: tokens }),
  usages,
  reason: fc.constantFrom('end_turn', 'max_tokens', 'tool_use', 'stop_sequence', 'refusal'),
})

function cut(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map(place => place % (text.length + 1)).sort((a, b) => a - b), text.length]
  return places.slice(1).map((place, index) => text.slice(places[index], place))
}

function eventsOfBlock(block: Block, index: number): Fields[] {
  const delta = (fields: Fields) => ({ type: 'content_block_delta', index, delta: fields })
  const start = (fields: Fields) => ({
    type: 'content_block_start',
    index,
    content_block: { type: block.type, ...fields },
  })
  const end = { type: 'content_block_stop', index }
  if (block.type === 'text') {
    return [start({ text: '' }), ...block.texts.map(text => delta({ type: 'text_delta', text })), end]
  }
  if (block.type === 'thinking') {
    const thoughts = block.texts.map(thinking => delta({ type: 'thinking_delta', thinking }))
    return [start({ thinking: '' }), ...thoughts, delta({ type: 'signature_delta', signature: 'x' }), end]
  }
  if (block.type !== 'tool_use') return [start({ data: 'x' }), end]
  const empty = Object.keys(block.args).length === 0
  const texts = empty ? [''] : cut(JSON.stringify(block.args), block.cuts)
  const args = texts.map(partial_json => delta({ type: 'input_json_delta', partial_json }))
  return [start({ id: `toolu_${index}`, name: 'tool', input: {} }), ...args, end]
}

function eventsOf({
  blocks,
  first,
  usages,
  reason,
}: typeof answer extends fc.Arbitrary<infer T> ? T : never): Fields[] {
  return [
    { type: 'message_start', message: { id: 'msg', model: 'claude', content: [], usage: first } },
    ...blocks.flatMap(eventsOfBlock),
    ...usages.map((usage, index) => ({
      type: 'message_delta',
      delta: { stop_reason: index === usages.length - 1 ? reason : null },
      usage,
    })),
    { type: 'message_stop' },
  ]
}

test('whatever a model says arrives whole, however its stream is cut, with pings anywhere', () => {
  fc.assert(
    fc.property(answer, fc.array(fc.nat(50), { maxLength: 5 }), (answer, pings) => {
      const events = eventsOf(answer)
      for (const place of pings) events.splice(place % events.length, 0, { type: 'ping' })
      const { chunks, state } = streamed(reader(), events)
      const whole = assembled(chunks)
      const said = (type: string) =>
        answer.blocks.flatMap(block => (block.type === type && 'texts' in block ? block.texts : []))
      expect(whole.text).toBe(said('text').join(''))
      expect(whole.reasoning).toBe(said('thinking').join(''))
      const args = answer.blocks.flatMap(block => ('args' in block ? [JSON.stringify(block.args)] : []))
      expect(whole.calls.map(call => call.arguments)).toEqual(args)
      expect(whole.finish).not.toBeNull()
      expect(state).toBe('ended')
    }),
  )
})

test('the last count of each kind wins, and none is added up', () => {
  fc.assert(
    fc.property(answer, answer => {
      const { reports } = streamed(reader(), eventsOf(answer))
      const last: Fields = Object.assign({}, answer.first, ...answer.usages)
      const count = (name: string) => Number(last[name] ?? 0)
      const cached = count('cache_read_input_tokens')
      const written = count('cache_creation_input_tokens')
      expect(reports).toHaveLength(answer.usages.length)
      expect(reports.at(-1)?.usage).toEqual({
        promptTokens: count('input_tokens') + cached + written,
        cachedTokens: cached,
        cacheWriteTokens: written,
        completionTokens: count('output_tokens'),
      })
    }),
  )
})

test('a stream that is cut is open until its reason came, and what came is relayed', () => {
  fc.assert(
    fc.property(answer, fc.nat(200), (answer, place) => {
      const events = eventsOf(answer)
      const part = events.slice(0, place % (events.length + 1))
      const finished = part.some(event => isFields(event.delta) && typeof event.delta.stop_reason === 'string')
      const ended = part.some(event => event.type === 'message_stop')
      expect(streamed(reader(), part).state).toBe(ended ? 'ended' : finished ? 'finished' : 'open')
    }),
  )
})

/** Events in any order, with anything in their fields: no provider sends these, a broken one may. */
const anything = fc.oneof(
  answer.chain(answer => fc.shuffledSubarray(eventsOf(answer))),
  fc.array(
    fc.record(
      {
        type: fc.constantFrom(
          'message_start',
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
          'message_delta',
          'message_stop',
          'error',
          'ping',
        ),
        index: fc.jsonValue(),
        message: fc.jsonValue(),
        content_block: fc.oneof(
          fc.record({ type: fc.constant('tool_use'), id: fc.jsonValue(), name: fc.jsonValue(), input: fc.jsonValue() }),
          fc.jsonValue(),
        ),
        delta: fc.oneof(
          fc.record({
            type: fc.constantFrom('text_delta', 'input_json_delta'),
            text: fc.jsonValue(),
            partial_json: fc.jsonValue(),
            stop_reason: fc.jsonValue(),
          }),
          fc.jsonValue(),
        ),
        usage: fc.jsonValue(),
        error: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    ),
  ),
  fc.array(fc.jsonValue()),
)

test('no events at all make a reader throw anything but an UpstreamFailure', () => {
  fc.assert(
    fc.property(anything, events => {
      try {
        for (const chunk of streamed(reader(), events).chunks) expect(chunk.choices).toBeArray()
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
      }
    }),
    { numRuns: 500 },
  )
})

test('data that is no JSON is an UpstreamFailure', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), data => {
      try {
        reader().read({ name: '', data })
      } catch (error) {
        expect(error).toBeInstanceOf(UpstreamFailure)
      }
    }),
  )
})
