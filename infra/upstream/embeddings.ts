import { isFields } from './asked.ts'
import { tokensOf } from './text.ts'

const DIMENSIONS = 8

/** Vectors for the inputs of an embeddings request, the same for the same text. Null when it is not one. */
export function embeddingsBody(body: unknown): unknown {
  if (!isFields(body) || typeof body.model !== 'string' || body.input === undefined) return null
  const inputs = inputsOf(body.input)
  const dimensions = typeof body.dimensions === 'number' ? body.dimensions : DIMENSIONS
  const tokens = inputs.reduce((sum, input) => sum + (Array.isArray(input) ? input.length : tokensOf(input)), 0)
  const data = inputs.map((input, index) => {
    const vector = vectorOf(String(input), dimensions)
    const embedding =
      body.encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector)
    return { object: 'embedding', index, embedding }
  })
  return { object: 'list', data, model: body.model, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

/** One text, several texts, one array of tokens, or several. */
function inputsOf(input: unknown): (string | number[])[] {
  if (!Array.isArray(input)) return [String(input)]
  return typeof input[0] === 'number' ? [input] : input
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const hash = Bun.hash.wyhash(text)
  return Float32Array.from({ length: dimensions }, (_, index) => Number((hash >> BigInt(index % 56)) & 0xffn) / 255)
}
