import { newStamp } from '../completion.ts'
import type { Provider } from '../provider.ts'
import { readAnswer } from './answer.ts'
import { readFailure } from './failure.ts'
import { chatRequest } from './request.ts'
import { streamReader } from './stream.ts'

/**
 * Anthropic's Messages API, and servers that speak it.
 *
 * The bound: the tokenizers of today's models are not public; the last public one (@anthropic-ai/tokenizer) is a byte-level
 * BPE after NFKC, which makes up to 33 bytes of 3 (U+FDFA). A catalogue that knows better sets its own `byteMultiplier`.
 * With tools the API adds a system prompt, of 159 to 530 tokens by its documentation and model, and another one for JSON
 * schemas. A message costs its two role marks, and a tool the marks around its JSON: both well inside of what is allowed.
 */
export const anthropic: Provider = {
  kind: 'anthropic',
  bound: { byteMultiplier: 11, perRequest: 1_536, perMessage: 16, perTool: 64 },
  chat: chatRequest,
  answer: (body, target) => readAnswer(body, newStamp(target.model)),
  reader: target => streamReader(newStamp(target.model)),
  failure: readFailure,
}
