import { type Fields, isFields } from '../../json.ts'
import { completion, type FinishReason, type Said, type Stamp, type ToolCall } from '../completion.ts'
import { UpstreamFailure } from '../failure.ts'
import type { ChatAnswer } from '../provider.ts'
import { failureOf } from './failure.ts'
import { readUsage } from './usage.ts'

/** Reasons that Google gives for what it does not let out; all others (a malformed call, …) are an end like another. */
const filters = new Set<unknown>([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

/** A candidate: where it stands, what it says, and why it ended if it did. */
export interface Candidate {
  readonly index: number
  readonly parts: readonly Fields[]
  readonly finishReason: unknown
}

/** A whole answer. */
export function readAnswer(body: unknown, stamp: Stamp): ChatAnswer {
  const response = responseIn(body)
  const named = stampOf(response, stamp)
  const candidates = candidatesIn(response).toSorted((a, b) => a.index - b.index)
  // A prompt that Google reads, bills, and then says nothing to.
  const choices = isBlocked(response) ? [blocked] : candidates.map(candidate => saidIn(candidate, named.id))
  if (choices.length === 0) throw new UpstreamFailure('failed', 'the provider answered without candidates')
  const anythingSaid = choices.some(said => said.text !== '' || said.reasoning !== '' || said.calls.length > 0)
  return completion(named, choices, readUsage(response.usageMetadata, anythingSaid))
}

const blocked: Said = { text: '', reasoning: '', calls: [], finish: 'content_filter' }

/** Throws the failure that a response is, alone or in an array. */
export function responseIn(body: unknown): Fields {
  const response = Array.isArray(body) ? body[0] : body
  if (!isFields(response)) throw new UpstreamFailure('failed', 'the provider answered no JSON object')
  if (isFields(response.error)) throw failureOf(response.error)
  return response
}

/** The name that Google gave to this answer, and the exact name of the model. */
export function stampOf(response: Fields, stamp: Stamp): Stamp {
  return {
    id: typeof response.responseId === 'string' ? response.responseId : stamp.id,
    created: stamp.created,
    model: typeof response.modelVersion === 'string' ? response.modelVersion : stamp.model,
  }
}

/** The prompt itself was refused: there are no candidates. */
export function isBlocked({ promptFeedback }: Fields): boolean {
  return isFields(promptFeedback) && typeof promptFeedback.blockReason === 'string'
}

export function candidatesIn({ candidates }: Fields): Candidate[] {
  if (!Array.isArray(candidates)) return []
  return candidates.filter(isFields).map(({ index, content, finishReason }) => ({
    index: Number.isSafeInteger(index) ? Number(index) : 0,
    parts: isFields(content) && Array.isArray(content.parts) ? content.parts.filter(isFields) : [],
    finishReason,
  }))
}

export function finishOf(finishReason: unknown, calls: number): FinishReason {
  if (finishReason === 'MAX_TOKENS') return 'length'
  if (filters.has(finishReason)) return 'content_filter'
  return calls > 0 ? 'tool_calls' : 'stop'
}

/** An id for a call that Gemini left without: like that of no other answer, since callers send whole conversations back. */
export function callId(answerId: string, candidate: number, position: number): string {
  return `call_${answerId}_${candidate}_${position}`
}

/** The call in a part; null when there is none. A signature must come back with the call it signs. */
export function callIn(
  { functionCall: call, thoughtSignature: signature }: Fields,
  otherwiseId: string,
): ToolCall | null {
  if (!isFields(call) || typeof call.name !== 'string') return null
  return {
    id: typeof call.id === 'string' && call.id !== '' ? call.id : otherwiseId,
    name: call.name,
    arguments: JSON.stringify(call.args ?? {}),
    ...(typeof signature === 'string' && { extra: { google: { thought_signature: signature } } }),
  }
}

function saidIn({ index, parts, finishReason }: Candidate, answerId: string): Said {
  const calls: ToolCall[] = []
  for (const part of parts) {
    const call = callIn(part, callId(answerId, index, calls.length))
    if (call) calls.push(call)
  }
  const texts = (thought: boolean) => parts.filter(part => (part.thought === true) === thought).map(textIn)
  return {
    text: texts(false).join(''),
    reasoning: texts(true).join(''),
    calls,
    finish: finishOf(finishReason, calls.length),
  }
}

export function textIn({ text }: Fields): string {
  return typeof text === 'string' ? text : ''
}
