import { Type } from '@sinclair/typebox'
import { UsageExt } from './models.ts'

/**
 * Chat completions as the OpenAPI document describes them: OpenAI's format, of which only what we look at is spelled out.
 * Nobody validates with these: unknown fields go to the provider as they are.
 */
export const ChatRequest = Type.Object(
  {
    model: Type.String({ description: 'An id of GET /v1/models' }),
    messages: Type.Array(
      Type.Object(
        {
          role: Type.Union(['developer', 'system', 'user', 'assistant', 'tool'].map(role => Type.Literal(role))),
          content: Type.Optional(
            Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String() })), Type.Null()]),
          ),
        },
        { additionalProperties: true },
      ),
      { minItems: 1 },
    ),
    stream: Type.Optional(Type.Boolean({ description: 'Answer as server-sent events' })),
    stream_options: Type.Optional(Type.Object({ include_usage: Type.Optional(Type.Boolean()) })),
    max_completion_tokens: Type.Optional(
      Type.Integer({ minimum: 1, description: 'What is held before the call; without it the balance decides' }),
    ),
    max_tokens: Type.Optional(Type.Integer({ minimum: 1, description: 'The older name of max_completion_tokens' })),
    n: Type.Optional(Type.Integer({ minimum: 1 })),
    tools: Type.Optional(Type.Array(Type.Object({ type: Type.String() }, { additionalProperties: true }))),
  },
  { additionalProperties: true, description: 'Fields that are not listed are passed to the provider' },
)

export const ChatAnswer = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object(
        {
          index: Type.Integer(),
          message: Type.Object({ role: Type.String() }, { additionalProperties: true }),
          finish_reason: Type.Union([Type.String(), Type.Null()]),
        },
        { additionalProperties: true },
      ),
    ),
    usage: Type.Optional(
      Type.Object(
        { prompt_tokens: Type.Integer(), completion_tokens: Type.Integer(), total_tokens: Type.Integer() },
        { additionalProperties: true },
      ),
    ),
    usage_ext: UsageExt,
  },
  { additionalProperties: true },
)
