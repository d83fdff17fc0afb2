import { Type } from '@sinclair/typebox'

/** A model of the catalogue as callers see it: the OpenAI list format, with prices in micro-USD per 1M tokens. */
export const ListedModel = Type.Object({
  id: Type.String(),
  object: Type.Literal('model'),
  created: Type.Integer(),
  owned_by: Type.String(),
  context_length: Type.Integer(),
  max_output_tokens: Type.Integer(),
  pricing: Type.Object({
    in_micro: Type.Integer(),
    out_micro: Type.Integer(),
    cached_in_micro: Type.Optional(Type.Integer()),
    cache_write_micro: Type.Optional(Type.Integer()),
  }),
})
export const ModelList = Type.Object({ object: Type.Literal('list'), data: Type.Array(ListedModel) })

/** The usage extension that every completion carries (interface.md, "Usage extension"). */
export const UsageExt = Type.Object({
  cost_micro: Type.Integer(),
  /** True when the provider reported no usage and we counted. */
  estimated: Type.Optional(Type.Boolean()),
  /** The completion limit that was granted when the caller gave none. */
  max_tokens: Type.Optional(Type.Integer()),
})
