import { describe, expect, test } from 'bun:test'
import { UpstreamFailure } from '../failure.ts'
import { ask, assembled, streamed, targetOf } from '../rig.ts'
import { anthropic } from './index.ts'
import * as recorded from './recorded.ts'

const target = targetOf('claude')
const read = (events: readonly unknown[]) => streamed(anthropic.reader(target, ask({ stream: true })), events)
const failureIn = (body: unknown, status = 400) => anthropic.failure(status, new Headers(), JSON.stringify(body))

describe('a whole answer', () => {
  test('of text is in OpenAI’s shape', () => {
    const { body, reported, text } = anthropic.answer(recorded.textAnswer, target)
    expect(body).toMatchObject({
      id: 'msg_01VdEjxA',
      object: 'chat.completion',
      model: 'claude-sonnet-4-5-20250929',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: "Hello! I'm doing well, thanks for asking.", refusal: null },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 12, completion_tokens: 29, total_tokens: 41 },
    })
    expect(reported?.usage).toEqual({ promptTokens: 12, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 29 })
    expect(text).toBe("Hello! I'm doing well, thanks for asking.")
  })

  test('with a call has no content', () => {
    expect(anthropic.answer(recorded.toolAnswer, target).body.choices).toMatchObject([
      {
        message: {
          content: null,
          tool_calls: [
            {
              id: 'toolu_01PQjhxo',
              type: 'function',
              function: { name: 'weather', arguments: '{"location":"San Francisco"}' },
            },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ])
  })

  test('with thinking shows it beside the content, and counts it inside the completion', () => {
    const { body, reported } = anthropic.answer(recorded.thinkingAnswer, target)
    expect(body.choices).toMatchObject([
      { message: { content: 'The roots are 1, 2 and 3.', reasoning_content: 'I need to find all roots.' } },
    ])
    expect(reported?.shown).toMatchObject({
      completion_tokens: 1_699,
      completion_tokens_details: { reasoning_tokens: 139 },
    })
  })

  test('that is a refusal is charged, and says that a filter ended it', () => {
    const { body, reported } = anthropic.answer(recorded.refusalAnswer, target)
    expect(body.choices).toMatchObject([{ message: { content: null }, finish_reason: 'content_filter' }])
    expect(reported?.usage).toMatchObject({ promptTokens: 18, completionTokens: 5 })
  })

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['something_new', 'stop'],
  ])('that ended for %s finished with %s', (reason, finish) => {
    expect(anthropic.answer({ ...recorded.textAnswer, stop_reason: reason }, target).body.choices).toMatchObject([
      { finish_reason: finish },
    ])
  })

  test.each([[null], ['text'], [{}], [{ content: 'text' }], [recorded.overloadedEvent]])('%j is a failure', body => {
    expect(() => anthropic.answer(body, target)).toThrow(UpstreamFailure)
  })

  test.each([
    [undefined],
    [{}],
    [{ input_tokens: 3 }],
    [{ output_tokens: 3 }],
    [{ input_tokens: -1, output_tokens: 1 }],
    [{ input_tokens: 10, cache_read_input_tokens: -9, output_tokens: 1 }],
    [{ input_tokens: 1.5, output_tokens: 1 }],
    [{ input_tokens: '1', output_tokens: 1 }],
    [{ input_tokens: Number.MAX_SAFE_INTEGER, cache_read_input_tokens: 1, output_tokens: 1 }],
  ])('usage %j is no report', usage => {
    expect(anthropic.answer({ ...recorded.textAnswer, usage }, target).reported).toBeNull()
  })
})

describe('a stream', () => {
  test('of text becomes chunks that clients put together, and ends', () => {
    const { chunks, reports, state, heard } = read(recorded.textStream)
    expect(assembled(chunks)).toEqual({
      text: "Hello! I'm doing well, thank you for asking",
      reasoning: '',
      calls: [],
      finish: 'stop',
    })
    expect(chunks[0]).toMatchObject({ id: 'msg_01QC4g3H', model: 'claude-sonnet-4-5-20250929' })
    expect(heard).toBe("Hello! I'm doing well, thank you for asking")
    expect(reports).toHaveLength(1)
    expect(state).toBe('ended')
  })

  test('with calls gives arguments that are JSON, even where there are none', () => {
    expect(assembled(read(recorded.toolStream).chunks)).toMatchObject({
      calls: [{ id: 'toolu_019Zvehf', name: 'weather', arguments: '{"location": "San Francisco"}' }],
      finish: 'tool_calls',
    })
    expect(assembled(read(recorded.toolWithoutArgumentsStream).chunks)).toMatchObject({
      text: "I'll update the issue list for you.",
      calls: [{ id: 'toolu_01QE1WLs', name: 'updateIssueList', arguments: '{}' }],
      finish: 'tool_calls',
    })
  })

  test('with thinking shows it, and not its signature', () => {
    const { chunks } = read(recorded.thinkingStream)
    expect(assembled(chunks)).toMatchObject({ reasoning: 'The previous result was 925.', text: '925 ÷ 5 = 185' })
    expect(JSON.stringify(chunks)).not.toContain('EvQBCkYI')
  })

  test('reports cached tokens in buckets of their own, inside of the prompt', () => {
    const report = read(recorded.cacheStream).reports.at(-1)
    expect(report?.usage).toEqual({
      promptTokens: 6 + 3_337 + 6_289,
      cachedTokens: 6_289,
      cacheWriteTokens: 3_337,
      completionTokens: 198,
    })
    expect(report?.shown).toMatchObject({
      prompt_tokens: 9_632,
      prompt_tokens_details: { cached_tokens: 6_289, cache_write_tokens: 3_337 },
    })
  })

  test('reports the last of each count', () => {
    expect(read(recorded.growingUsageStream).reports.at(-1)?.usage).toMatchObject({
      promptTokens: 61,
      completionTokens: 2,
    })
    expect(read(recorded.startedTwiceStream).reports.at(-1)?.usage).toMatchObject({
      promptTokens: 17,
      completionTokens: 227,
    })
  })

  test('that is cut after its beginning has no report: the first output count is a placeholder', () => {
    const { reports, state } = read(recorded.textStream.slice(0, 6))
    expect(reports).toEqual([])
    expect(state).toBe('open')
  })

  test('that a refusal ends is charged', () => {
    const { chunks, reports } = read(recorded.refusalStream)
    expect(assembled(chunks)).toMatchObject({ text: '', finish: 'content_filter' })
    expect(reports.at(-1)?.usage).toMatchObject({ promptTokens: 18, completionTokens: 5 })
  })

  test('that says its reason twice finishes once', () => {
    const last = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 31 } }
    const { chunks, reports } = read([...recorded.textStream.slice(0, -1), last])
    expect(assembled(chunks)).toMatchObject({ finish: 'stop' })
    expect(reports.at(-1)?.usage).toMatchObject({ completionTokens: 31 })
  })

  test('is heard whole, calls too: that is counted where there is no report', () => {
    expect(read(recorded.toolStream).heard).toBe('weather{"location": "San Francisco"}')
    expect(anthropic.answer(recorded.toolAnswer, target).text).toBe('weather{"location":"San Francisco"}')
  })

  test('shows nothing before it says something, so that another route may still answer', () => {
    expect(read(recorded.textStream.slice(0, 3)).chunks).toEqual([])
  })

  test('that begins anew inside is a failure, and never two answers in one', () => {
    expect(() => read(recorded.splicedStream)).toThrow('began its answer twice')
  })

  test('that ends without a reason is a failure', () => {
    expect(() => read([...recorded.textStream.slice(0, 4), { type: 'message_stop' }])).toThrow('without a reason')
  })

  test('says an error that comes after text', () => {
    const reader = anthropic.reader(target, ask({ stream: true }))
    streamed(reader, recorded.textStream.slice(0, 5))
    expect(() => streamed(reader, [recorded.overloadedEvent])).toThrow(
      expect.objectContaining({ kind: 'failed', message: 'Overloaded' }),
    )
  })

  test('passes over events and deltas of types that are new', () => {
    const added = recorded.textStream.flatMap(event => [
      { type: 'something_new', index: 7 },
      { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: { cited_text: 'x' } } },
      event,
    ])
    expect(assembled(read(added).chunks)).toMatchObject({ text: "Hello! I'm doing well, thank you for asking" })
  })
})

describe('a failure', () => {
  test.each([
    [400, recorded.refusedError, { kind: 'refused' }],
    [400, recorded.tooLongError, { kind: 'too_long', detail: { promptTokens: 207_791 } }],
    [400, recorded.overContextError, { kind: 'too_long', detail: { promptTokens: 178_959 } }],
    [
      413,
      { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
      { kind: 'refused' },
    ],
    [
      401,
      { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
      { kind: 'credentials' },
    ],
    [402, { type: 'error', error: { type: 'billing_error', message: 'pay' } }, { kind: 'credentials' }],
    [403, { type: 'error', error: { type: 'permission_error', message: 'no' } }, { kind: 'credentials' }],
    [
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' },
      },
      { kind: 'credentials' },
    ],
    [404, { type: 'error', error: { type: 'not_found_error', message: 'model: claude-9' } }, { kind: 'failed' }],
    [429, { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }, { kind: 'limited' }],
    [500, { type: 'error', error: { type: 'api_error', message: 'Internal server error' } }, { kind: 'failed' }],
    [529, recorded.overloadedEvent, { kind: 'failed', detail: { status: 529 } }],
    [503, '<html>upstream connect error</html>', { kind: 'failed', message: 'the provider answered 503' }],
    [403, '<html>no</html>', { kind: 'credentials' }],
    [429, null, { kind: 'limited' }],
    [400, [], { kind: 'refused' }],
  ])('%i %j is %j', (status, body, expected) => {
    expect(failureIn(body, status)).toMatchObject(expected)
  })

  test('has the wait that the header says, and no key of ours in its message', () => {
    const body = JSON.stringify({
      error: { type: 'rate_limit_error', message: 'slow down, sk-ant-api03-abcdefghijkl' },
    })
    const failure = anthropic.failure(429, new Headers({ 'retry-after': '12' }), body)
    expect(failure.detail).toEqual({ status: 429, retryAfterSeconds: 12 })
    expect(failure.message).not.toContain('abcdefghijkl')
  })
})
