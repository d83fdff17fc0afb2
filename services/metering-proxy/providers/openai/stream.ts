import type { ChatRequest } from '../../chat.ts'
import { type Fields, isFields } from '../../json.ts'
import type { ServerEvent } from '../../sse.ts'
import type { ReportedUsage } from '../../usage.ts'
import { UpstreamFailure } from '../failure.ts'
import type { Chunk, StreamReader, Target } from '../provider.ts'
import { saidIn } from './answer.ts'
import { failureOf } from './failure.ts'
import { readUsage } from './usage.ts'

const END = '[DONE]'
/** Inside of JSON strings quotes are escaped: this text is always the member itself. */
const NO_USAGE_MEMBER = ',"usage":null'

/**
 * Reads an OpenAI stream. Chunks are relayed as they came, less the `usage` that we asked for: parsing one costs a fifth of a
 * microsecond, writing it again is done only for those that carry usage.
 */
export function streamReader(_target: Target, chat: ChatRequest): StreamReader {
  const finished = new Set<unknown>()
  let ended = false

  function read({ data }: ServerEvent): readonly Chunk[] {
    if (data === '') return []
    if (data === END) {
      ended = true
      return []
    }
    const event = parse(data)
    if (event.error !== undefined && event.error !== null) throw failureOf(event.error)
    if (isFields(event.x_groq) && event.x_groq.error) throw failureOf(event.x_groq.error)
    const reported = readUsage(event.usage) ?? readUsage(isFields(event.x_groq) ? event.x_groq.usage : null)
    return [chunkOf(event, data, reported)]
  }

  function chunkOf(event: Fields, data: string, reported: ReportedUsage | null): Chunk {
    if (!Array.isArray(event.choices)) {
      if (reported) return { json: null, finishes: false, text: '', reported }
      throw new UpstreamFailure('failed', 'the provider sent a chunk without choices')
    }
    const choices = event.choices.filter(isFields)
    const finishing = choices.filter(choice => choice.finish_reason != null)
    for (const choice of finishing) finished.add(choice.index)
    if (choices.length === 0 && reported) return { json: null, finishes: false, text: '', reported }
    const text = choices.map(choice => (isFields(choice.delta) ? saidIn(choice.delta) : '')).join('')
    return { json: withoutUsage(event, data), finishes: finishing.length > 0, text, reported }
  }

  return {
    read,
    get state() {
      if (ended) return 'ended'
      return finished.size >= chat.choices ? 'finished' : 'open'
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
  throw new UpstreamFailure('failed', 'the provider sent an event that is no chunk')
}

function withoutUsage(event: Fields, data: string): string {
  if (event.usage === undefined) return data
  if (event.usage === null && data.includes(NO_USAGE_MEMBER)) return data.replace(NO_USAGE_MEMBER, '')
  const { usage: _, ...rest } = event
  return JSON.stringify(rest)
}
