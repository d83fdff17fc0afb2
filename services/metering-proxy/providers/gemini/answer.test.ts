import { describe, expect, test } from 'bun:test'
import { UpstreamFailure } from '../failure.ts'
import { ask, assembled, streamed, targetOf } from '../rig.ts'
import { gemini } from './index.ts'
import * as recorded from './recorded.ts'

const target = targetOf('gemini')
const read = (events: readonly unknown[], choices = 1) =>
  streamed(gemini.reader(target, ask({ stream: true, n: choices })), events)

describe('a whole answer', () => {
  test('of text is in OpenAI’s shape, and its thoughts are billed', () => {
    const { body, reported, text } = gemini.answer(recorded.textAnswer, target)
    expect(body).toMatchObject({
      id: 'Un6LacrV',
      object: 'chat.completion',
      model: 'gemini-3-pro-preview',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 272,
        total_tokens: 281,
        completion_tokens_details: { reasoning_tokens: 244 },
      },
    })
    expect(reported?.usage).toEqual({
      promptTokens: 9,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      completionTokens: 28 + 244,
    })
  })

  test('with a call has its signature where clients keep it', () => {
    expect(gemini.answer(recorded.toolAnswer, target).body.choices).toMatchObject([
      {
        message: {
          content: null,
          tool_calls: [
            {
              id: 'call_m36LaZGy_0_0',
              type: 'function',
              function: { name: 'weather', arguments: '{"location":"San Francisco"}' },
              extra_content: { google: { thought_signature: 'EskgCsYg' } },
            },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ])
  })

  test('with calls at once keeps the ids that Gemini gave', () => {
    const choices: unknown = gemini.answer(recorded.parallelAnswer, target).body.choices
    expect(choices).toMatchObject([{ message: { tool_calls: [{ id: 'lpndqlku' }, { id: 'm6rogicj' }] } }])
  })

  test('to a prompt that was blocked is empty, filtered, and charged for the prompt', () => {
    const { body, reported } = gemini.answer(recorded.blockedPrompt, target)
    expect(body.choices).toMatchObject([{ message: { content: null }, finish_reason: 'content_filter' }])
    expect(reported?.usage).toMatchObject({ promptTokens: 9, completionTokens: 0 })
  })

  test.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['MALFORMED_FUNCTION_CALL', 'stop'],
    ['SOMETHING_NEW', 'stop'],
  ])('that ended for %s finished with %s', (finishReason, finish) => {
    const answer = { candidates: [{ finishReason }], usageMetadata: { promptTokenCount: 1 } }
    expect(gemini.answer(answer, target).body.choices).toMatchObject([{ finish_reason: finish }])
  })

  test('with several candidates has them in their order', () => {
    const candidate = (index: number, text: string) => ({ index, content: { parts: [{ text }] }, finishReason: 'STOP' })
    expect(gemini.answer({ candidates: [candidate(1, 'b'), candidate(0, 'a')] }, target).body.choices).toMatchObject([
      { index: 0, message: { content: 'a' } },
      { index: 1, message: { content: 'b' } },
    ])
  })

  test.each([[null], ['text'], [{}], [{ candidates: [] }], [[]], [recorded.quotaError], [recorded.tooLongError]])(
    '%j is a failure',
    body => {
      expect(() => gemini.answer(body, target)).toThrow(UpstreamFailure)
    },
  )

  test.each([
    [undefined],
    [{ trafficType: 'ON_DEMAND' }],
    [{ promptTokenCount: 9, totalTokenCount: 9 }],
    [{ promptTokenCount: 9, candidatesTokenCount: -1 }],
    [{ promptTokenCount: 9, candidatesTokenCount: 3, thoughtsTokenCount: -2 }],
    [{ promptTokenCount: '9', candidatesTokenCount: 1 }],
    [{ candidatesTokenCount: 1 }],
  ])('of text with usage %j has no report', usageMetadata => {
    expect(gemini.answer({ ...recorded.textAnswer, usageMetadata }, target).reported).toBeNull()
  })
})

describe('a stream', () => {
  test('of text becomes chunks that clients put together; its last report wins', () => {
    const { chunks, reports, state, heard } = read(recorded.textStream)
    expect(assembled(chunks)).toEqual({ text: heard, reasoning: '', calls: [], finish: 'stop' })
    expect(heard).toStartWith('There are **3** "r"s in strawberry.')
    expect(reports.map(report => report.usage.completionTokens)).toEqual([190, 208, 208])
    expect(state).toBe('finished')
  })

  test('with a call has it whole, and says that calls ended it', () => {
    const { chunks } = read(recorded.toolStream)
    expect(assembled(chunks)).toMatchObject({
      calls: [{ id: 'call_b36Lacjw_0_0', name: 'weather', arguments: '{"location":"San Francisco"}' }],
      finish: 'tool_calls',
    })
    expect(JSON.stringify(chunks)).toContain('"extra_content":{"google":{"thought_signature":"EqUCCqIC"}}')
  })

  test('with a call without arguments gives arguments that are JSON', () => {
    const { chunks, reports } = read(recorded.toolWithoutArgumentsStream)
    expect(assembled(chunks)).toMatchObject({
      reasoning: '**Processing**\n',
      calls: [{ name: 'read_theme', arguments: '{}' }],
      finish: 'tool_calls',
    })
    expect(reports.map(report => report.usage)).toEqual([
      { promptTokens: 249, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 58 + 183 },
    ])
  })

  test('that is cut after thoughts has a report of them', () => {
    const { reports, state } = read(recorded.thoughtsStream.slice(0, 1))
    expect(reports.at(-1)?.usage).toMatchObject({ promptTokens: 6, completionTokens: 14 })
    expect(state).toBe('open')
  })

  test('takes usage that comes alone at the end', () => {
    const { chunks, reports } = read([...recorded.textStream, recorded.usageEvent])
    expect(reports.at(-1)?.usage).toEqual({
      promptTokens: 12 + 65,
      cachedTokens: 4,
      cacheWriteTokens: 0,
      completionTokens: 71 + 89,
    })
    expect(chunks).toHaveLength(3)
  })

  test('to a prompt that was blocked ends all choices', () => {
    const { chunks, reports, state } = read([recorded.blockedPrompt], 2)
    expect(assembled(chunks, 0)).toMatchObject({ text: '', finish: 'content_filter' })
    expect(assembled(chunks, 1)).toMatchObject({ text: '', finish: 'content_filter' })
    expect(reports.at(-1)?.usage).toMatchObject({ promptTokens: 9, completionTokens: 0 })
    expect(state).toBe('finished')
  })

  test('that says its end in every event finishes once', () => {
    const event = { responseId: 'r', candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }] }
    const { chunks, heard } = read([event, event])
    expect(chunks.filter(chunk => JSON.stringify(chunk).includes('"finish_reason":"stop"'))).toHaveLength(1)
    expect(heard).toBe('aa')
  })

  test('of several candidates is open until the last has ended', () => {
    const candidate = (index: number, text: string, finishReason?: string) => ({
      index,
      content: { parts: [{ text }] },
      finishReason,
    })
    const events = [
      { responseId: 'r', candidates: [candidate(0, 'a'), candidate(1, 'b', 'STOP')] },
      { responseId: 'r', candidates: [candidate(0, 'c', 'MAX_TOKENS')] },
    ]
    expect(read(events.slice(0, 1), 2).state).toBe('open')
    const { chunks, state } = read(events, 2)
    expect(assembled(chunks, 0)).toMatchObject({ text: 'ac', finish: 'length' })
    expect(assembled(chunks, 1)).toMatchObject({ text: 'b', finish: 'stop' })
    expect(state).toBe('finished')
  })

  test('says an error that comes after text, alone or in an array', () => {
    const error = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
    for (const event of [error, [error]]) {
      expect(() => read([...recorded.textStream.slice(0, 1), event])).toThrow(
        expect.objectContaining({ kind: 'failed', message: 'The model is overloaded.' }),
      )
    }
  })
})

describe('a failure', () => {
  const error = (code: number, status: string, message: string) => ({ error: { code, status, message } })
  test.each([
    [400, recorded.refusedError, { kind: 'refused', message: 'Penalty is not enabled for models/gemini-2.5-pro' }],
    [400, recorded.tooLongError, { kind: 'too_long', detail: { promptTokens: 1_200_293 } }],
    [429, recorded.quotaError, { kind: 'limited', detail: { retryAfterSeconds: 34.4 } }],
    [400, error(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'), { kind: 'credentials' }],
    [
      400,
      error(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
      { kind: 'credentials' },
    ],
    [401, error(401, 'UNAUTHENTICATED', 'no'), { kind: 'credentials' }],
    [403, error(403, 'PERMISSION_DENIED', 'no'), { kind: 'credentials' }],
    [429, error(429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.'), { kind: 'credentials' }],
    [404, error(404, 'NOT_FOUND', 'models/x is not found'), { kind: 'failed' }],
    [500, error(500, 'INTERNAL', 'An internal error has occurred.'), { kind: 'failed' }],
    [503, error(503, 'UNAVAILABLE', 'The model is overloaded.'), { kind: 'failed', detail: { status: 503 } }],
    [504, '<html>', { kind: 'failed' }],
    [403, '', { kind: 'credentials' }],
    [413, 'null', { kind: 'refused' }],
  ])('%i %j is %j', (status, body, expected) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    expect(gemini.failure(status, new Headers(), text)).toMatchObject(expected)
  })
})
