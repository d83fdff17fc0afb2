import { newStamp } from '../completion.ts'
import type { Provider } from '../provider.ts'
import { readAnswer } from './answer.ts'
import { readFailure } from './failure.ts'
import { chatRequest } from './request.ts'
import { streamReader } from './stream.ts'

/**
 * Google's Gemini API, in its own language.
 *
 * The bound: Gemini's tokenizer is Gemma's (Gemma 3 report, section 2), a SentencePiece model with the identity as its
 * normalizer and single bytes as its last resort, so that no token is less than a byte of what was sent. A short question was
 * billed without any overhead, and a tool at about its JSON, in the recorded exchanges of the tests; a request may add
 * instructions for JSON. A result of a tool repeats the tool's name, of up to 128 characters, which the caller's form leaves out.
 */
export const gemini: Provider = {
  kind: 'gemini',
  bound: { byteMultiplier: 1, perRequest: 256, perMessage: 160, perTool: 64 },
  chat: chatRequest,
  answer: (body, target) => readAnswer(body, newStamp(target.model)),
  reader: (target, chat) => streamReader(newStamp(target.model), chat.choices),
  failure: readFailure,
}
