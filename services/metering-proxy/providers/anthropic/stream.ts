import { type Fields, isFields } from '../../json.ts'
import type { ServerEvent } from '../../sse.ts'
import { choiceWriter, type Stamp, usageChunk } from '../completion.ts'
import { UpstreamFailure } from '../failure.ts'
import { given } from '../options.ts'
import type { Chunk, StreamReader } from '../provider.ts'
import { finishOf, stampOf, textIn } from './answer.ts'
import { failureOf } from './failure.ts'
import { readUsage } from './usage.ts'

const TEXT_TYPES = new Set<unknown>(['text', 'text_delta'])
const THINKING_TYPES = new Set<unknown>(['thinking', 'thinking_delta'])

/** A call whose block is open. */
interface OpenCall {
  readonly position: number
  readonly input: unknown
  argued: boolean
}

/**
 * Reads an Anthropic stream: `message_start`, blocks that start, grow and stop, `message_delta` with the reason of the end
 * and the usage, `message_stop`; `ping` and `error` anywhere. Events and deltas of types that we don't know are passed over, as
 * Anthropic asks its clients to do.
 */
export function streamReader(stamp: Stamp): StreamReader {
  let named = stamp
  let usage: Fields = {}
  let ended = false
  const choice = choiceWriter(0, () => named)
  const calls = new Map<unknown, OpenCall>()

  function read({ data }: ServerEvent): readonly Chunk[] {
    if (data === '') return []
    const event = parse(data)
    switch (event.type) {
      case 'message_start':
        return start(fieldsIn(event.message))
      case 'content_block_start':
        return startBlock(event.index, fieldsIn(event.content_block))
      case 'content_block_delta':
        return grow(event.index, fieldsIn(event.delta))
      case 'content_block_stop':
        return stopBlock(event.index)
      case 'message_delta':
        return finish(fieldsIn(event.delta), event.usage)
      case 'message_stop':
        return stop()
      case 'error':
        throw failureOf(event.error)
      default:
        return []
    }
  }

  /**
   * Nothing is shown yet: an error that comes instead of a first word (overloaded) leaves the answer to another route. Nothing is
   * reported either, since the output count is a placeholder: who left now would pay for one token.
   */
  function start(message: Fields): readonly Chunk[] {
    // Some servers begin twice; one that does after it has said something makes two answers into one.
    if (choice.begun) throw new UpstreamFailure('failed', 'the provider began its answer twice')
    usage = { ...usage, ...given(fieldsIn(message.usage)) }
    named = stampOf(message, named)
    return []
  }

  function startBlock(index: unknown, block: Fields): readonly Chunk[] {
    if (block.type === 'tool_use') {
      const call = { id: textIn(block.id), name: textIn(block.name), arguments: '' }
      const { position, chunk } = choice.call(call)
      calls.set(index, { position, input: block.input, argued: false })
      return [chunk]
    }
    return sayings(block)
  }

  function grow(index: unknown, delta: Fields): readonly Chunk[] {
    const call = calls.get(index)
    const args = textIn(delta.partial_json)
    if (!call || args === '') return sayings(delta)
    call.argued = true
    return [choice.argumentsOf(call.position, args)]
  }

  /** Blocks begin with what their deltas go on with, in the same fields. */
  function sayings({ type, text, thinking }: Fields): readonly Chunk[] {
    if (TEXT_TYPES.has(type) && textIn(text) !== '') return [choice.text(textIn(text))]
    if (THINKING_TYPES.has(type) && textIn(thinking) !== '') return [choice.reasoning(textIn(thinking))]
    return []
  }

  /** A call without arguments streams none, and an empty text is no JSON to the caller. */
  function stopBlock(index: unknown): readonly Chunk[] {
    const call = calls.get(index)
    if (!call || call.argued) return []
    call.argued = true
    return [choice.argumentsOf(call.position, JSON.stringify(call.input ?? {}))]
  }

  /** Counts are cumulative: the last of each wins. Older models repeat only those of the output. */
  function finish({ stop_reason: reason }: Fields, counts: unknown): readonly Chunk[] {
    usage = { ...usage, ...given(fieldsIn(counts)) }
    const reported = isFields(counts) ? readUsage(usage) : null
    if (typeof reason === 'string' && !choice.finished) return [{ ...choice.finish(finishOf(reason)), reported }]
    return reported ? [usageChunk(reported)] : []
  }

  function stop(): readonly Chunk[] {
    if (!choice.finished) throw new UpstreamFailure('failed', 'the provider ended its answer without a reason')
    ended = true
    return []
  }

  return {
    read,
    get state() {
      if (ended) return 'ended'
      return choice.finished ? 'finished' : 'open'
    },
  }
}

function parse(data: string): Fields {
  try {
    const event: unknown = JSON.parse(data)
    if (isFields(event)) return event
  } catch {
    // Said below.
  }
  throw new UpstreamFailure('failed', 'the provider sent an event that is no JSON object')
}

function fieldsIn(value: unknown): Fields {
  return isFields(value) ? value : {}
}
