import { PublicError } from '@tollgate/contracts'
import { type Fields, isFields } from './json.ts'

/** Fields that we look at, or set anew: what they say is held and charged. */
const KNOWN_FIELDS = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'tools',
  'functions',
  'response_format',
  'prediction',
  'service_tier',
  'modalities',
]
/**
 * Fields that choose another model, provider or limit, or buy what has no price here. Passed on they would cost the operator
 * what nobody was charged: they are refused, where all other unknown fields are passed on.
 */
const REFUSED_FIELDS = [
  // Another model or provider: OpenRouter, LiteLLM.
  'models',
  'model_list',
  'route',
  'provider',
  'preset',
  'transforms',
  'fallbacks',
  'context_window_fallbacks',
  'content_policy_fallbacks',
  'num_retries',
  'custom_llm_provider',
  'user_config',
  'api_base',
  'base_url',
  // Searches, tools and stored content: OpenAI, OpenRouter, xAI, Qwen, Azure, Groq, Gemini.
  'web_search',
  'web_search_options',
  'search_parameters',
  'search_options',
  'search_settings',
  'enable_search',
  'data_sources',
  'plugins',
  'mcp_servers',
  'container',
  'compound_custom',
  'cached_content',
  'previous_response_id',
  'conversation',
  'audio',
  'speed',
  // Fields inside of fields, which a server may lift to the top.
  'extra_body',
  // More work for a prompt than it shows: vLLM.
  'best_of',
  'use_beam_search',
  'chat_template',
  'mm_processor_kwargs',
  'media_io_kwargs',
  'prompt_embeds',
  // The limit and the choices under other names, which win in some servers: llama.cpp, TGI.
  'n_predict',
  'n_cmpl',
  'max_new_tokens',
  'max_output_tokens',
]
const spellings = new Map([...KNOWN_FIELDS, ...REFUSED_FIELDS].map(field => [folded(field), field]))
/** What makes a message's content: a server that reads it under another spelling would read what was not counted. */
const contentSpellings = new Map(
  ['role', 'content', 'type', 'text', 'image_url', 'url', 'input_audio', 'file', 'file_data', 'audio'].map(field => [
    folded(field),
    field,
  ]),
)
const PRICED_TOOLS = new Set<unknown>(['function', 'custom'])
const LISTED_PRICE_TIERS = new Set<unknown>(['auto', 'default', 'standard_only'])

/** Throws 400 with the name of a field that would buy what is not held and charged. */
export function refuseUnpriced(body: Fields): void {
  refuseSpellings(body, spellings)
  for (const field of REFUSED_FIELDS) {
    if (body[field] !== undefined && body[field] !== null)
      throw unpriced(field, 'is not offered here: it has no listed price')
  }
  if (body.service_tier != null && !LISTED_PRICE_TIERS.has(body.service_tier)) {
    throw unpriced('service_tier', 'other than "auto" and "default" is not offered here: it has no listed price')
  }
  if (body.modalities != null && JSON.stringify(body.modalities) !== '["text"]') {
    throw unpriced('modalities', 'other than ["text"] are not offered here: they have no listed price')
  }
  refuseTools(body.tools)
  refuseSpelledContent(body.messages)
}

function refuseTools(tools: unknown): void {
  if (tools == null) return
  if (!Array.isArray(tools)) throw unpriced('tools', 'must be a list')
  for (const tool of tools) {
    if (!isFields(tool) || !PRICED_TOOLS.has(tool.type))
      throw unpriced('tools', 'must be of type "function" or "custom"')
    refuseSpellings(tool, contentSpellings)
  }
}

function refuseSpelledContent(value: unknown): void {
  if (Array.isArray(value)) for (const item of value) refuseSpelledContent(item)
  if (!isFields(value)) return
  refuseSpellings(value, contentSpellings)
  for (const item of Object.values(value)) refuseSpelledContent(item)
}

/** Go's JSON reads `Max_Tokens` as `max_tokens`, protobuf's `maxTokens` too: servers in them would see what we don't. */
function refuseSpellings(fields: Fields, known: ReadonlyMap<string, string>): void {
  for (const field of Object.keys(fields)) {
    const meant = known.get(folded(field))
    if (meant !== undefined && meant !== field) throw unpriced(field, `must be spelled "${meant}"`)
  }
}

/** Through upper case, since two characters beyond ASCII have an ASCII one there: ſ and the Kelvin sign. */
function folded(field: string): string {
  return field.toUpperCase().toLowerCase().replaceAll('_', '')
}

function unpriced(field: string, problem: string): PublicError {
  return new PublicError('bad_request', `"${field}" ${problem}`)
}
