import { type Fields, isFields } from '../json.ts'
import { refused } from './refused.ts'

/** What a request asks for beside its messages, read from OpenAI's form for kinds of providers that speak another one. */
export interface Options {
  readonly tools: readonly Tool[]
  /** Null when the caller left it to the provider. */
  readonly toolChoice: 'auto' | 'none' | 'required' | { readonly name: string } | null
  /** The caller wants one call of a tool at a time. */
  readonly singleCalls: boolean
  /** What the answer must be: text when null. */
  readonly format: { readonly type: 'json' } | { readonly type: 'schema'; readonly schema: Fields } | null
  readonly stop: readonly string[]
  readonly effort: Effort | null
}

export interface Tool {
  readonly name: string
  readonly description: string | null
  readonly schema: Fields | null
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

/** Fields that change what an answer is or holds: to drop them silently would be to answer another question. */
const UNKNOWN_ELSEWHERE = ['functions', 'function_call', 'logprobs', 'top_logprobs', 'logit_bias'] as const

/** Throws a refusal when something is asked that only OpenAI's own models can do, or is not as OpenAI defines it. */
export function readOptions(body: Fields): Options {
  for (const field of UNKNOWN_ELSEWHERE) {
    if (asksForSomething(body[field])) throw refused(`this model does not take "${field}"`)
  }
  const tools = (Array.isArray(body.tools) ? body.tools : []).map(readTool)
  return {
    tools,
    toolChoice: toolChoiceOf(body.tool_choice),
    singleCalls: tools.length > 0 && body.parallel_tool_calls === false,
    format: formatOf(body.response_format),
    stop: stopOf(body.stop),
    effort: effortOf(body.reasoning_effort),
  }
}

/** Fields under their names elsewhere, less those that were not given: null is how callers say nothing. */
export function given(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

function asksForSomething(value: unknown): boolean {
  if (isFields(value)) return Object.keys(value).length > 0
  return value !== undefined && value !== null && value !== false && value !== 0
}

function readTool(tool: unknown): Tool {
  const named = isFields(tool) && tool.type === 'function' && isFields(tool.function) ? tool.function : {}
  if (typeof named.name !== 'string') throw refused('"tools" of this model must be of type "function", with a "name"')
  return {
    name: named.name,
    description: typeof named.description === 'string' ? named.description : null,
    schema: isFields(named.parameters) ? named.parameters : null,
  }
}

function toolChoiceOf(choice: unknown): Options['toolChoice'] {
  if (choice === undefined || choice === null) return null
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (isFields(choice) && choice.type === 'function' && isFields(choice.function)) {
    if (typeof choice.function.name === 'string') return { name: choice.function.name }
  }
  throw refused('"tool_choice" of this model must be auto, none, required or the name of a function')
}

function formatOf(format: unknown): Options['format'] {
  if (format === undefined || format === null) return null
  if (isFields(format)) {
    if (format.type === 'text') return null
    if (format.type === 'json_object') return { type: 'json' }
    const named = isFields(format.json_schema) ? format.json_schema : {}
    if (format.type === 'json_schema' && isFields(named.schema)) return { type: 'schema', schema: named.schema }
  }
  throw refused('"response_format" must be of type text, json_object, or json_schema with a "schema"')
}

function stopOf(stop: unknown): string[] {
  if (stop === undefined || stop === null) return []
  const sequences: unknown[] = Array.isArray(stop) ? stop : [stop]
  return sequences.map(sequence => {
    if (typeof sequence !== 'string') throw refused('"stop" must be a text or a list of texts')
    return sequence
  })
}

function effortOf(effort: unknown): Effort | null {
  if (effort === undefined || effort === null) return null
  const known = efforts.find(name => name === effort)
  if (!known) throw refused(`"reasoning_effort" must be one of ${efforts.join(', ')}`)
  return known
}
