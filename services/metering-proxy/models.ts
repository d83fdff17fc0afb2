import type { WireOf } from '@tollgate/contracts'
import { type modelsApi, PublicError } from '@tollgate/contracts'
import type { Catalogue, Model } from './catalogue.ts'

/** The whole catalogue in OpenAI's list format, with prices. */
export function listModels(catalogue: Catalogue): WireOf<typeof modelsApi.ModelList> {
  return { object: 'list', data: [...catalogue.values()].map(listed) }
}

/** One model. Throws 404. */
export function oneModel(catalogue: Catalogue, id: string): WireOf<typeof modelsApi.ListedModel> {
  return listed(known(catalogue, id))
}

/** The model that a caller may use for this kind of request. Throws 404 when there is none, 403 when the key may not use it. */
export function usableModel(
  catalogue: Catalogue,
  id: string,
  { type, allowed }: { type: Model['type']; allowed: readonly string[] | null },
): Model {
  const model = known(catalogue, id)
  if (model.type !== type) throw new PublicError('bad_request', `the model "${id}" is not for this endpoint`)
  if (allowed && !allowed.includes(id)) throw new PublicError('forbidden', `this key may not use the model "${id}"`)
  return model
}

function known(catalogue: Catalogue, id: string): Model {
  const model = catalogue.get(id)
  if (!model) throw new PublicError('not_found', `there is no model "${id}"; see GET /v1/models`)
  return model
}

function listed({
  id,
  created,
  ownedBy,
  contextTokens,
  maxOutputTokens,
  prices,
}: Model): WireOf<typeof modelsApi.ListedModel> {
  return {
    id,
    object: 'model',
    created,
    owned_by: ownedBy,
    context_length: contextTokens,
    max_output_tokens: maxOutputTokens,
    pricing: {
      in_micro: Number(prices.inMicro),
      out_micro: Number(prices.outMicro),
      ...(prices.cachedInMicro !== null && { cached_in_micro: Number(prices.cachedInMicro) }),
      ...(prices.cacheWriteMicro !== null && { cache_write_micro: Number(prices.cacheWriteMicro) }),
    },
  }
}
