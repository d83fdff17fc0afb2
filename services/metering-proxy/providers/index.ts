import { anthropic } from './anthropic/index.ts'
import { gemini } from './gemini/index.ts'
import { openai } from './openai/index.ts'
import type { Provider } from './provider.ts'

/** Every kind of provider that a catalogue may name. */
export const providers: ReadonlyMap<string, Provider> = new Map(
  [anthropic, gemini, openai].map(provider => [provider.kind, provider]),
)
