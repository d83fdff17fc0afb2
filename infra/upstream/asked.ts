import { tokensOf } from './text.ts'

/** How a simulated answer is timed and how long it gets. */
export interface Pace {
  /** Before anything is answered. */
  firstMs: number
  /** Between two pieces of a stream; 0 sends all at once. */
  intervalMs: number
  /** Tokens of the answer, where no limit or stop sequence ends it before. */
  tokens: number
  /** 1 writes into each paced piece when it was sent, for a client that measures delays. */
  stamp: number
}

/** A chat request, as far as the simulation looks at it. */
export interface Asked extends Pace {
  model: string
  stream: boolean
  includeUsage: boolean
  choices: number
  maxTokens: number
  stops: string[]
  promptTokens: number
  /** The tool to call instead of telling the story, and the schema of its arguments. */
  tool: { name: string; schema: unknown } | null
  /** Answer with JSON of this schema. */
  jsonSchema: unknown
}

type Fields = Record<string, unknown>

const TOKENS_PER_MESSAGE = 3

/**
 * Reads a chat body. The pace comes from `x-sim-<name>` headers, else the body's `sim` object, else the query of the model's
 * name (`simulated?tokens=8&intervalMs=20`), else the defaults. Null when it is not a chat request.
 */
export function readAsked(body: unknown, headers: Headers, defaults: Pace): Asked | null {
  if (!isFields(body) || !Array.isArray(body.messages) || typeof body.model !== 'string') return null
  const last: unknown = body.messages.at(-1)
  return {
    ...paceOf(body, headers, defaults),
    model: body.model,
    stream: body.stream === true,
    includeUsage: isFields(body.stream_options) && body.stream_options.include_usage === true,
    choices: numberOr(body.n, 1),
    maxTokens: numberOr(body.max_completion_tokens ?? body.max_tokens, Number.POSITIVE_INFINITY),
    stops: [body.stop].flat().filter((stop): stop is string => typeof stop === 'string' && stop !== ''),
    promptTokens: promptTokens(body.messages, body.tools),
    tool: isFields(last) && last.role !== 'tool' ? toolOf(body) : null,
    jsonSchema: jsonSchemaOf(body.response_format),
  }
}

function paceOf(body: Fields, headers: Headers, defaults: Pace): Pace {
  const model = String(body.model)
  const query = new URLSearchParams(model.includes('?') ? model.slice(model.indexOf('?')) : '')
  const sim = isFields(body.sim) ? body.sim : {}
  const pick = (name: keyof Pace) =>
    numberOr(headers.get(`x-sim-${name.toLowerCase()}`) ?? sim[name] ?? query.get(name), defaults[name])
  return { firstMs: pick('firstMs'), intervalMs: pick('intervalMs'), tokens: pick('tokens'), stamp: pick('stamp') }
}

function promptTokens(messages: unknown[], tools: unknown): number {
  const texts = messages.map(message => (isFields(message) ? textOf(message.content) : ''))
  const toolTokens = Array.isArray(tools) ? tokensOf(JSON.stringify(tools)) : 0
  return texts.reduce((sum, text) => sum + tokensOf(text) + TOKENS_PER_MESSAGE, TOKENS_PER_MESSAGE + toolTokens)
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map(part => (isFields(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** The tool that the request forces, else the first one. */
function toolOf(body: Fields): Asked['tool'] {
  if (!Array.isArray(body.tools) || body.tool_choice === 'none') return null
  const functions = body.tools.filter(isFields).map(tool => (isFields(tool.function) ? tool.function : {}))
  const forced =
    isFields(body.tool_choice) && isFields(body.tool_choice.function) ? body.tool_choice.function.name : null
  const chosen = functions.find(candidate => forced === null || candidate.name === forced)
  return typeof chosen?.name === 'string' ? { name: chosen.name, schema: chosen.parameters } : null
}

function jsonSchemaOf(format: unknown): unknown {
  if (!isFields(format) || format.type === 'text') return null
  return isFields(format.json_schema) ? (format.json_schema.schema ?? {}) : {}
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function numberOr(value: unknown, otherwise: number): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : otherwise
}
