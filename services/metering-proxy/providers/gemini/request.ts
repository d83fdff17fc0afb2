import type { ChatRequest } from '../../chat.ts'
import type { Fields } from '../../json.ts'
import { readConversation } from '../conversation.ts'
import { given, type Options, readOptions, type Tool } from '../options.ts'
import type { Target, UpstreamRequest } from '../provider.ts'
import { refused } from '../refused.ts'
import { contentsOf } from './contents.ts'
import { thinkingOf } from './thinking.ts'

/**
 * The request in Gemini's form. What it has no field for is dropped (user, metadata, prediction, …); what would change the
 * answer's meaning is refused (`options.ts`, one call at a time, images by URL). The key goes in a header: a URL ends in logs.
 */
export function chatRequest({ baseUrl, apiKey, model }: Target, chat: ChatRequest, limit: number): UpstreamRequest {
  const { instructions, turns } = readConversation(chat.body.messages)
  const options = readOptions(chat.body)
  if (options.singleCalls)
    throw refused('this model can not be held to one call at a time: "parallel_tool_calls" must be true')
  const body = {
    contents: contentsOf(turns, model),
    ...(instructions.length > 0 && { systemInstruction: { parts: instructions.map(text => ({ text })) } }),
    ...(options.tools.length > 0 && {
      tools: [{ functionDeclarations: options.tools.map(declarationOf) }],
      toolConfig: { functionCallingConfig: callingOf(options) },
    }),
    generationConfig: generationConfig(chat, options, { limit, model }),
  }
  const headers = { 'content-type': 'application/json', ...(apiKey && { 'x-goog-api-key': apiKey.reveal() }) }
  const method = chat.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return { url: `${baseUrl}/${pathOf(model)}:${method}`, headers, body: JSON.stringify(body) }
}

/** Tuned models and those of Vertex have names with their own folder. */
function pathOf(model: string): string {
  return encodeURI(model.includes('/') ? model : `models/${model}`)
}

function generationConfig(
  { body, choices }: ChatRequest,
  { stop, format, effort }: Options,
  { limit, model }: { limit: number; model: string },
): Fields {
  return given({
    maxOutputTokens: limit,
    candidateCount: choices > 1 ? choices : null,
    stopSequences: stop.length > 0 ? stop : null,
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    seed: body.seed,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    responseMimeType: format && 'application/json',
    // The twin of `responseSchema` that takes JSON Schema as it is.
    responseJsonSchema: format?.type === 'schema' ? format.schema : null,
    thinkingConfig: thinkingOf(effort, model),
  })
}

function declarationOf({ name, description, schema }: Tool): Fields {
  return { name, ...given({ description, parametersJsonSchema: schema }) }
}

function callingOf({ toolChoice }: Options): Fields {
  if (toolChoice === null || toolChoice === 'auto') return { mode: 'AUTO' }
  if (toolChoice === 'none') return { mode: 'NONE' }
  if (toolChoice === 'required') return { mode: 'ANY' }
  return { mode: 'ANY', allowedFunctionNames: [toolChoice.name] }
}
