import { Type } from '@sinclair/typebox'
import { UsageExt } from './models.ts'

/** Embeddings as the OpenAPI document describes them: OpenAI's format. Unknown fields go to the provider as they are. */
export const EmbeddingsRequest = Type.Object(
  {
    model: Type.String({ description: 'An id of GET /v1/models' }),
    input: Type.Union([
      Type.String(),
      Type.Array(Type.String()),
      Type.Array(Type.Integer()),
      Type.Array(Type.Array(Type.Integer())),
    ]),
  },
  { additionalProperties: true },
)

export const EmbeddingsAnswer = Type.Object(
  {
    object: Type.Literal('list'),
    model: Type.String(),
    data: Type.Array(Type.Object({ index: Type.Integer() }, { additionalProperties: true })),
    usage: Type.Object({ prompt_tokens: Type.Integer(), total_tokens: Type.Integer() }, { additionalProperties: true }),
    usage_ext: UsageExt,
  },
  { additionalProperties: true },
)
