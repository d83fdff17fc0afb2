import type { Fields } from '../../json.ts'
import type { ServerEvent } from '../../sse.ts'
import type { ReportedUsage } from '../../usage.ts'
import { type ChoiceWriter, choiceWriter, type Stamp, usageChunk } from '../completion.ts'
import { UpstreamFailure } from '../failure.ts'
import type { Chunk, StreamReader } from '../provider.ts'
import {
  type Candidate,
  callId,
  callIn,
  candidatesIn,
  finishOf,
  isBlocked,
  responseIn,
  stampOf,
  textIn,
} from './answer.ts'
import { readUsage } from './usage.ts'

/**
 * Reads a Gemini stream: each event is a whole response with the next parts of its candidates, and with the usage so far. There
 * is no event that says the end: it is when all candidates said why they ended, and usage may still follow.
 */
export function streamReader(stamp: Stamp, choices: number): StreamReader {
  let named = stamp
  let anythingSaid = false
  const writers = new Map<number, ChoiceWriter>()

  function writerOf(index: number): ChoiceWriter {
    const writer = writers.get(index) ?? choiceWriter(index, () => named)
    writers.set(index, writer)
    return writer
  }

  function read({ data }: ServerEvent): readonly Chunk[] {
    if (data === '') return []
    const response = responseIn(parse(data))
    // One answer has one name: what its first event says.
    if (writers.size === 0) named = stampOf(response, named)
    const chunks = isBlocked(response) ? block() : candidatesIn(response).flatMap(say)
    anythingSaid ||= chunks.some(chunk => chunk.text !== '')
    return withUsage(chunks, readUsage(response.usageMetadata, anythingSaid))
  }

  /** A prompt that was refused ends all choices: Google bills it, and says nothing to it. */
  function block(): Chunk[] {
    const open = Array.from({ length: choices }, (_, index) => writerOf(index)).filter(writer => !writer.finished)
    return open.map(writer => writer.finish('content_filter'))
  }

  function say({ index, parts, finishReason }: Candidate): Chunk[] {
    const writer = writerOf(index)
    const chunks = parts.flatMap(part => sayPart(part, index, writer))
    if (typeof finishReason === 'string' && !writer.finished)
      chunks.push(writer.finish(finishOf(finishReason, writer.calls)))
    return chunks
  }

  function sayPart(part: Fields, index: number, writer: ChoiceWriter): Chunk[] {
    const call = callIn(part, callId(named.id, index, writer.calls))
    if (call) return [writer.call(call).chunk]
    const text = textIn(part)
    if (text === '') return []
    return [part.thought === true ? writer.reasoning(text) : writer.text(text)]
  }

  return {
    read,
    get state() {
      const finished = [...writers.values()].filter(writer => writer.finished).length
      return finished >= choices ? 'finished' : 'open'
    },
  }
}

/** The report goes with the last chunk of its event, so that it covers all that was said until then. */
function withUsage(chunks: readonly Chunk[], reported: ReportedUsage | null): readonly Chunk[] {
  const last = chunks.at(-1)
  if (!reported) return chunks
  return last ? [...chunks.slice(0, -1), { ...last, reported }] : [usageChunk(reported)]
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    throw new UpstreamFailure('failed', 'the provider sent an event that is no JSON')
  }
}
