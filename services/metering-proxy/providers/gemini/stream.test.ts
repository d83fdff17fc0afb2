import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { UpstreamFailure } from '../failure.ts'
import { ask, assembled, streamed, targetOf } from '../rig.ts'
import { gemini } from './index.ts'

const reader = (choices = 1) => gemini.reader(targetOf('gemini'), ask({ stream: true, n: choices }))
const words = fc.string({ unit: 'grapheme', maxLength: 12 })
const tokens = fc.integer({ min: 1, max: 1_000_000 })

const part = fc.oneof(
  words.map(text => ({ text })),
  words.map(text => ({ text, thought: true })),
  fc
    .record({ name: fc.constant('tool'), args: fc.dictionary(words, fc.integer()) })
    .map(functionCall => ({ functionCall })),
  fc.constant({ executableCode: { language: 'PYTHON', code: '1' } }),
)
type Part = typeof part extends fc.Arbitrary<infer T> ? T : never
/** Zeros and what is not known yet are left out, as in Google's JSON. */
const usage = fc.record(
  {
    promptTokenCount: tokens,
    candidatesTokenCount: tokens,
    thoughtsTokenCount: tokens,
    cachedContentTokenCount: tokens,
    totalTokenCount: tokens,
  },
  { requiredKeys: ['promptTokenCount', 'candidatesTokenCount'] },
)
const event = fc.record({
  parts: fc.array(part, { maxLength: 4 }),
  usageMetadata: fc.option(usage, { nil: undefined }),
})
const answer = fc.record({
  events: fc.array(event, { maxLength: 6 }),
  reason: fc.constantFrom('STOP', 'MAX_TOKENS', 'SAFETY', 'OTHER'),
  lastUsage: usage,
  usageAlone: fc.boolean(),
})
type Answer = typeof answer extends fc.Arbitrary<infer T> ? T : never

function eventsOf({ events, reason, lastUsage, usageAlone }: Answer): object[] {
  const said = events.map(({ parts, usageMetadata }) => ({
    responseId: 'r',
    candidates: [{ content: { role: 'model', parts } }],
    usageMetadata,
  }))
  const end = { responseId: 'r', candidates: [{ content: { parts: [] }, finishReason: reason }] }
  if (usageAlone) return [...said, end, { usageMetadata: lastUsage }]
  return [...said, { ...end, usageMetadata: lastUsage }]
}

test('whatever a model says arrives whole, however it is spread over events', () => {
  fc.assert(
    fc.property(answer, answer => {
      const { chunks, state } = streamed(reader(), eventsOf(answer))
      const parts: Part[] = answer.events.flatMap(event => event.parts)
      const said = (thought: boolean) =>
        parts.flatMap(part => ('text' in part && 'thought' in part === thought ? part.text : ''))
      const whole = assembled(chunks)
      expect(whole.text).toBe(said(false).join(''))
      expect(whole.reasoning).toBe(said(true).join(''))
      const args = parts.flatMap(part => ('functionCall' in part ? [JSON.stringify(part.functionCall.args)] : []))
      expect(whole.calls.map(call => call.arguments)).toEqual(args)
      expect(new Set(whole.calls.map(call => call.id)).size).toBe(args.length)
      expect(whole.finish).not.toBeNull()
      expect(state).toBe('finished')
    }),
  )
})

test('the last report wins, and none is added up', () => {
  fc.assert(
    fc.property(answer, answer => {
      const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount, cachedContentTokenCount } = answer.lastUsage
      expect(streamed(reader(), eventsOf(answer)).reports.at(-1)?.usage).toEqual({
        promptTokens: promptTokenCount,
        cachedTokens: Math.min(cachedContentTokenCount ?? 0, promptTokenCount),
        cacheWriteTokens: 0,
        completionTokens: candidatesTokenCount + (thoughtsTokenCount ?? 0),
      })
    }),
  )
})

/** Events in any order, with anything in their fields: no provider sends these, a broken one may. */
const anything = fc.oneof(
  answer.chain(answer => fc.shuffledSubarray(eventsOf(answer))),
  fc.array(
    fc.record({
      candidates: fc.oneof(
        fc.array(
          fc.record({
            index: fc.jsonValue(),
            content: fc.record({
              parts: fc.array(
                fc.record({ functionCall: fc.jsonValue(), text: fc.jsonValue(), thoughtSignature: fc.jsonValue() }),
              ),
            }),
            finishReason: fc.jsonValue(),
          }),
        ),
        fc.jsonValue(),
      ),
      usageMetadata: fc.jsonValue(),
      promptFeedback: fc.jsonValue(),
      responseId: fc.jsonValue(),
    }),
  ),
  fc.array(fc.jsonValue()),
)

test('no events at all make a reader throw anything but an UpstreamFailure', () => {
  fc.assert(
    fc.property(anything, fc.integer({ min: 1, max: 3 }), (events, choices) => {
      try {
        for (const chunk of streamed(reader(choices), events).chunks) expect(chunk.choices).toBeArray()
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
      }
    }),
    { numRuns: 500 },
  )
})

test('data that is no JSON is an UpstreamFailure', () => {
  expect(() => reader().read({ name: '', data: '{"candidates":' })).toThrow(UpstreamFailure)
})
