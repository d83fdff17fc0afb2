import type { ChatRequest } from '../../chat.ts'
import type { Fields } from '../../json.ts'
import type { Provider, Target, UpstreamRequest } from '../provider.ts'
import { readAnswer } from './answer.ts'
import { readFailure } from './failure.ts'
import { streamReader } from './stream.ts'

/**
 * OpenAI, and whoever speaks its language: Groq, Together, DeepSeek, vLLM, Ollama, OpenRouter.
 * The bound holds for their templates and tokenizers: byte-level BPE, at worst after NFC (Qwen), with a default system
 * prompt (Llama, gpt-oss) and a preamble for tools.
 */
export const openai: Provider = {
  kind: 'openai',
  bound: { byteMultiplier: 3, perRequest: 512, perMessage: 16, perTool: 64 },
  chat: chatRequest,
  answer: readAnswer,
  reader: streamReader,
  failure: readFailure,
  embeddings: (target, body) => post(target, '/embeddings', JSON.stringify({ ...body, model: target.model })),
}

/** The body as it came, with the route's model, the limit, and the usage of streams asked for. */
function chatRequest(target: Target, chat: ChatRequest, limit: number): UpstreamRequest {
  const own = {
    model: target.model,
    [target.limitField ?? limitFieldOf(target.baseUrl)]: limit,
    stream: chat.stream,
    ...(chat.stream && { stream_options: { ...streamOptionsOf(chat.body), include_usage: true } }),
  }
  // `text` is an object that has messages, and none of these fields: so this is one too.
  return post(target, '/chat/completions', `${chat.text.slice(0, -1)},${JSON.stringify(own).slice(1)}`)
}

function post({ baseUrl, apiKey }: Target, path: string, body: string): UpstreamRequest {
  const headers = {
    'content-type': 'application/json',
    ...(apiKey && { authorization: `Bearer ${apiKey.reveal()}` }),
  }
  return { url: `${baseUrl}${path}`, headers, body }
}

/**
 * OpenAI's reasoning models take only the newer field; most other servers know only the older one and would silently
 * ignore the newer, and with it the limit that was held.
 */
function limitFieldOf(baseUrl: string): string {
  const host = new URL(baseUrl).hostname
  return host === 'api.openai.com' || host.endsWith('.azure.com') ? 'max_completion_tokens' : 'max_tokens'
}

function streamOptionsOf(body: Fields): object {
  return typeof body.stream_options === 'object' && body.stream_options !== null ? body.stream_options : {}
}
