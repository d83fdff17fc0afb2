import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

declare const self: Worker

/** The time grows with the square of an unbroken word: pieces of this length take a few milliseconds at worst. */
const PIECE_CHARS = 2 * 1024
/** No text is special here: `<|endoftext|>` in a prompt is just that text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() }

self.onmessage = ({ data }: MessageEvent<{ id: number; text: string }>) => {
  const { id, text } = data
  let tokens = 0
  for (let start = 0; start < text.length; start += PIECE_CHARS) {
    tokens += countTokens(text.slice(start, start + PIECE_CHARS), AS_TEXT)
  }
  self.postMessage({ id, tokens })
}
