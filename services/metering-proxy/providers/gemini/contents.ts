import { type Fields, isFields } from '../../json.ts'
import { type Call, joined, type Turn } from '../conversation.ts'
import type { Part } from '../parts.ts'
import { refused } from '../refused.ts'

/** What Google documents for calls whose signature is lost: https://ai.google.dev/gemini-api/docs/thought-signatures */
const NO_SIGNATURE = 'skip_thought_signature_validator'
/** These neither sign their calls nor look for signatures. */
const unsigned = /gemini-[12](?!\d)|gemma/

/** Turns as Gemini's contents. Results of tools name the tool, which OpenAI's form says only where it was called. */
export function contentsOf(turns: readonly Turn[], model: string): Fields[] {
  const names = new Map(
    turns.flatMap(turn => (turn.role === 'assistant' ? turn.calls.map(call => [call.id, call.name]) : [])),
  )
  const partsOf = (turn: Turn): Fields[] => {
    if (turn.role === 'user') return turn.parts.map(partOf)
    if (turn.role === 'tool') return resultOf(turn.callId, names.get(turn.callId), turn.parts)
    const calls = callsOf(turn.calls, model)
    return turn.text === '' ? calls : [{ text: turn.text }, ...calls]
  }
  const contents = joined(
    turns.map(turn => ({ role: turn.role === 'assistant' ? 'model' : 'user', pieces: partsOf(turn) })),
  )
  return contents.map(({ role, pieces }) => ({ role, parts: pieces }))
}

/** Of the calls that a model makes at once only the first is signed; a newer model refuses one without. */
function callsOf(calls: readonly Call[], model: string): Fields[] {
  return calls.map(({ id, name, args, extra }, position) => {
    const wanted = position === 0 && !unsigned.test(model) ? NO_SIGNATURE : null
    const signature = signatureIn(extra) ?? wanted
    return { functionCall: { id, name, args }, ...(signature !== null && { thoughtSignature: signature }) }
  })
}

/** Where Google's own OpenAI door puts it, and so where clients keep it. */
function signatureIn(extra: unknown): string | null {
  const google = isFields(extra) && isFields(extra.google) ? extra.google : {}
  return typeof google.thought_signature === 'string' ? google.thought_signature : null
}

/** Texts are the result; media come beside it, since only the newest models take them inside. */
function resultOf(id: string, name: string | undefined, parts: readonly Part[]): Fields[] {
  if (name === undefined) throw refused('the "tool_call_id" of a tool message must be that of an earlier call')
  const output = parts.map(part => (part.type === 'text' ? part.text : '')).join('')
  const media = parts.filter(part => part.type !== 'text')
  return [{ functionResponse: { id, name, response: { output } } }, ...media.map(partOf)]
}

function partOf(part: Part): Fields {
  if (part.type === 'text') return { text: part.text }
  // Gemini takes addresses of videos and of the operator's own files in the same field.
  if (part.type === 'image_url') throw refused('this model takes images as data URLs only')
  return { inlineData: { mimeType: part.mime, data: part.base64 } }
}
