import { randomUUID } from 'node:crypto'
import type { Asked } from './asked.ts'
import { sampleOf } from './sample.ts'
import { piecesOf, story } from './text.ts'

type FinishReason = 'stop' | 'length' | 'tool_calls'

/** What is answered, before it takes the shape of a body or a stream. Every choice says the same. */
interface Said {
  id: string
  created: number
  pieces: string[]
  finish: FinishReason
  toolCall: { id: string; name: string } | null
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

function say(asked: Asked): Said {
  const structured = asked.tool?.schema ?? asked.jsonSchema
  const wanted = asked.tool || asked.jsonSchema ? piecesOf(JSON.stringify(sampleOf(structured))) : story(asked.tokens)
  const { pieces, stopped } = untilStop(wanted.slice(0, asked.maxTokens), asked.stops)
  const cut = !stopped && wanted.length > asked.maxTokens
  const completion = pieces.length * asked.choices
  const id = randomUUID()
  return {
    id: `chatcmpl-${id}`,
    created: Math.floor(Date.now() / 1000),
    pieces,
    finish: cut ? 'length' : asked.tool ? 'tool_calls' : 'stop',
    toolCall: asked.tool && { id: `call_${id}`, name: asked.tool.name },
    usage: {
      prompt_tokens: asked.promptTokens,
      completion_tokens: completion,
      total_tokens: asked.promptTokens + completion,
    },
  }
}

/** The text before the first stop sequence, which is not part of it. */
function untilStop(pieces: string[], stops: string[]): { pieces: string[]; stopped: boolean } {
  if (stops.length === 0) return { pieces, stopped: false }
  const text = pieces.join('')
  const found = stops.map(stop => text.indexOf(stop)).filter(index => index >= 0)
  return found.length === 0
    ? { pieces, stopped: false }
    : { pieces: piecesOf(text.slice(0, Math.min(...found))), stopped: true }
}

/** The answer as one body. */
export function completionBody(asked: Asked): unknown {
  const said = say(asked)
  const text = said.pieces.join('')
  const message = said.toolCall
    ? {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: said.toolCall.id, type: 'function', function: { name: said.toolCall.name, arguments: text } },
        ],
      }
    : { role: 'assistant', content: text, refusal: null }
  return {
    id: said.id,
    object: 'chat.completion',
    created: said.created,
    model: asked.model,
    choices: range(asked.choices).map(index => ({ index, message, logprobs: null, finish_reason: said.finish })),
    usage: said.usage,
    system_fingerprint: FINGERPRINT,
  }
}

/** The answer as server-sent events, in OpenAI's order: role, pieces, finish, usage when asked, `[DONE]`. */
export function completionEvents(asked: Asked): string[] {
  const said = say(asked)
  const head = `data: {"id":"${said.id}","object":"chat.completion.chunk","created":${said.created},"model":${JSON.stringify(asked.model)},"system_fingerprint":"${FINGERPRINT}","choices":[`
  const tail = asked.includeUsage ? '],"usage":null}\n\n' : ']}\n\n'
  const events: string[] = []
  const all = (delta: string, finish: string) => {
    for (let index = 0; index < asked.choices; index++)
      events.push(`${head}{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":${finish}}${tail}`)
  }
  all(opening(said), 'null')
  for (const piece of said.pieces) all(deltaOf(said, piece), 'null')
  all('{}', `"${said.finish}"`)
  if (asked.includeUsage) events.push(`${head}],"usage":${JSON.stringify(said.usage)}}\n\n`)
  events.push('data: [DONE]\n\n')
  return events
}

const FINGERPRINT = 'fp_simulated'

/** The event with the time of day in it, in ms with a fraction, where any gateway lets it pass: the system's fingerprint. */
export function stamped(event: string): string {
  return event.replace(FINGERPRINT, `fp_${performance.timeOrigin + performance.now()}`)
}

function opening({ toolCall }: Said): string {
  if (!toolCall) return '{"role":"assistant","content":"","refusal":null}'
  const call = { index: 0, id: toolCall.id, type: 'function', function: { name: toolCall.name, arguments: '' } }
  return JSON.stringify({ role: 'assistant', content: null, tool_calls: [call] })
}

function deltaOf({ toolCall }: Said, piece: string): string {
  const text = JSON.stringify(piece)
  return toolCall ? `{"tool_calls":[{"index":0,"function":{"arguments":${text}}}]}` : `{"content":${text}}`
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}
