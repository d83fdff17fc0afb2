import { readArguments } from '../call-arguments.ts'
import { type Fields, isFields } from '../json.ts'
import { type Part, readParts, textOf } from './parts.ts'
import { refused } from './refused.ts'

/** The messages of a request, read from OpenAI's form for kinds of providers that speak another one. */
export interface Conversation {
  /** What system and developer messages say, in order: these providers take instructions only before everything else. */
  readonly instructions: readonly string[]
  readonly turns: readonly Turn[]
}

export type Turn =
  | { readonly role: 'user'; readonly parts: readonly Part[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly Call[] }
  | { readonly role: 'tool'; readonly callId: string; readonly parts: readonly Part[] }

/** A call of a tool that the model made earlier. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly args: Fields
  /** What the provider had attached to the call, as the caller returned it. */
  readonly extra: unknown
}

/** Throws a refusal when a message is not as its role demands. */
export function readConversation(messages: unknown): Conversation {
  const instructions: string[] = []
  const turns: Turn[] = []
  for (const message of Array.isArray(messages) ? messages.filter(isFields) : []) {
    if (message.role === 'system' || message.role === 'developer') {
      const text = textOf(readParts(message.content), message.role)
      if (text !== '') instructions.push(text)
    } else {
      turns.push(readTurn(message))
    }
  }
  return { instructions, turns }
}

/** Joins neighbours of one role, and drops who says nothing: these providers want roles to alternate. */
export function joined<Piece>(
  turns: readonly { readonly role: string; readonly pieces: readonly Piece[] }[],
): { role: string; pieces: Piece[] }[] {
  const whole: { role: string; pieces: Piece[] }[] = []
  for (const { role, pieces } of turns) {
    const last = whole.at(-1)
    if (last?.role === role) last.pieces.push(...pieces)
    else if (pieces.length > 0) whole.push({ role, pieces: [...pieces] })
  }
  return whole
}

function readTurn(message: Fields): Turn {
  const { role } = message
  if (role === 'user') return { role, parts: readParts(message.content) }
  if (role === 'assistant') return { role, text: saidBy(message), calls: callsOf(message) }
  if (role === 'tool' && typeof message.tool_call_id === 'string') {
    return { role, callId: message.tool_call_id, parts: readParts(message.content) }
  }
  if (role === 'tool') throw refused('a tool message must have a "tool_call_id"')
  throw refused('the role of a message must be system, developer, user, assistant or tool')
}

function saidBy(message: Fields): string {
  const text = textOf(readParts(message.content), 'assistant')
  return typeof message.refusal === 'string' ? text + message.refusal : text
}

function callsOf(message: Fields): Call[] {
  if (message.function_call !== undefined && message.function_call !== null) {
    throw refused('"function_call" is out of date and not taken by this model: use "tool_calls"')
  }
  if (message.tool_calls === undefined || message.tool_calls === null) return []
  if (!Array.isArray(message.tool_calls)) throw refused('"tool_calls" must be a list')
  return message.tool_calls.map(readCall)
}

function readCall(call: unknown): Call {
  const named = isFields(call) && isFields(call.function) ? call.function : {}
  if (!isFields(call) || typeof call.id !== 'string' || typeof named.name !== 'string') {
    throw refused('each of "tool_calls" must have an "id" and a "function" with a "name"')
  }
  return { id: call.id, name: named.name, args: argumentsOf(named.arguments), extra: call.extra_content }
}

function argumentsOf(text: unknown): Fields {
  if (text === undefined || text === '') return {}
  const args = readArguments(text)
  if (args) return args
  throw refused('the "arguments" of a tool call must be a JSON object in a text')
}
