import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Secret } from '@tollgate/service'
import type { MediaKind } from './media.ts'
import type { Prices } from './price.ts'
import { providers } from './providers/index.ts'
import type { PromptBound, Provider, Target } from './providers/provider.ts'

/** The dearest price that is not a typing error: 1,000 USD per 1M tokens. */
const PRICE_MAX = 1_000_000_000
const TOKENS_MAX = 100_000_000
const Price = Type.Integer({ minimum: 0, maximum: PRICE_MAX })
const Tokens = Type.Integer({ minimum: 1, maximum: TOKENS_MAX })
const Name = Type.String({ minLength: 1, maxLength: 256 })
const closed = { additionalProperties: false }

const ProviderEntry = Type.Object(
  {
    kind: Name,
    baseUrl: Type.String({ pattern: '^https?://[^\\s?#]+$' }),
    apiKeyEnv: Type.Optional(Type.String({ pattern: '^[A-Z][A-Z0-9_]*$' })),
    /** Of the provider's tokenizers, where it is known better than the kind's own. */
    byteMultiplier: Type.Optional(Type.Number({ minimum: 1, maximum: 16 })),
    limitField: Type.Optional(Type.Union([Type.Literal('max_tokens'), Type.Literal('max_completion_tokens')])),
  },
  closed,
)
const RouteEntry = Type.Object(
  {
    provider: Name,
    model: Name,
    /** Routes of a lower order are tried first; those of one order share the requests by weight. */
    order: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    weight: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
    /** Requests in work at once, in one process. */
    concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  },
  closed,
)
const ModelEntry = Type.Object(
  {
    id: Name,
    /** `embedding` models answer `/v1/embeddings` only. */
    type: Type.Optional(Type.Union([Type.Literal('chat'), Type.Literal('embedding')])),
    inMicro: Price,
    outMicro: Price,
    cachedInMicro: Type.Optional(Price),
    cacheWriteMicro: Type.Optional(Price),
    contextTokens: Tokens,
    /** Left out by embedding models, which have no output. */
    maxOutputTokens: Type.Optional(Tokens),
    /** The least completion limit that a request without one is worth starting with. */
    minCompletionTokens: Type.Optional(Tokens),
    /** Tokens of one item of each kind of media at most; a kind that is not here is refused. */
    mediaTokens: Type.Optional(
      Type.Object({ image: Type.Optional(Tokens), audio: Type.Optional(Tokens), file: Type.Optional(Tokens) }, closed),
    ),
    created: Type.Optional(Type.Integer({ minimum: 0 })),
    ownedBy: Type.Optional(Name),
    routes: Type.Array(RouteEntry, { minItems: 1, maxItems: 16 }),
  },
  closed,
)
const CatalogueFile = Type.Object(
  { providers: Type.Record(Type.String(), ProviderEntry), models: Type.Array(ModelEntry, { minItems: 1 }) },
  closed,
)
const schema = TypeCompiler.Compile(CatalogueFile)

/** A way to a model: what to call, how to speak, and how the operator spreads requests over such ways. */
export interface Route {
  /** `<provider>/<model there>`: names the route in logs, metrics and the journal. */
  readonly name: string
  readonly provider: Provider
  readonly target: Target
  readonly bound: PromptBound
  readonly order: number
  readonly weight: number
  readonly concurrency: number
}

export interface Model {
  readonly id: string
  readonly type: 'chat' | 'embedding'
  readonly prices: Prices
  readonly contextTokens: number
  readonly maxOutputTokens: number
  readonly minCompletionTokens: number
  readonly mediaTokens: Readonly<Partial<Record<MediaKind, number>>>
  readonly created: number
  readonly ownedBy: string
  readonly routes: readonly Route[]
}

export type Catalogue = ReadonlyMap<string, Model>

const MIN_COMPLETION_TOKENS = 256
const CONCURRENCY = 10_000

/**
 * The models of a catalogue file. `keyOf` finds a provider's key by the name of its variable.
 * Throws one `Error` that names every problem, so that an operator mends them in one go.
 */
export function readCatalogue(json: unknown, keyOf: (variable: string) => Secret | undefined): Catalogue {
  const problems = [...schema.Errors(json)].map(({ path, message }) => `${path || '/'}: ${message}`)
  if (!schema.Check(json)) throw catalogueError(problems)
  problems.push(...problemsOf(json, keyOf))
  if (problems.length > 0) throw catalogueError(problems)
  return new Map(json.models.map(entry => [entry.id, modelOf(entry, json.providers, keyOf)]))
}

function catalogueError(problems: readonly string[]): Error {
  return new Error(`the model catalogue has problems:\n${problems.map(problem => `  ${problem}`).join('\n')}`)
}

function problemsOf(file: Static<typeof CatalogueFile>, keyOf: (variable: string) => Secret | undefined): string[] {
  const problems: string[] = []
  for (const [name, { kind, baseUrl, apiKeyEnv }] of Object.entries(file.providers)) {
    if (!providers.has(kind))
      problems.push(`/providers/${name}/kind: "${kind}" is none of ${[...providers.keys()].join(', ')}`)
    if (!URL.canParse(baseUrl)) problems.push(`/providers/${name}/baseUrl: is no URL`)
    if (apiKeyEnv && !keyOf(apiKeyEnv)) problems.push(`/providers/${name}/apiKeyEnv: ${apiKeyEnv} is not set`)
  }
  const seen = new Set<string>()
  file.models.forEach((model, index) => {
    const at = `/models/${index}`
    if (seen.has(model.id)) problems.push(`${at}/id: "${model.id}" is there twice`)
    seen.add(model.id)
    const output = model.maxOutputTokens ?? 0
    if (output === 0 && model.type !== 'embedding') problems.push(`${at}/maxOutputTokens: is missing`)
    if (output > model.contextTokens) problems.push(`${at}/maxOutputTokens: exceeds contextTokens`)
    model.routes.forEach((route, place) => {
      const known = Object.hasOwn(file.providers, route.provider)
      if (!known) problems.push(`${at}/routes/${place}/provider: "${route.provider}" is not among the providers`)
    })
  })
  return problems
}

function modelOf(
  entry: Static<typeof ModelEntry>,
  entries: Static<typeof CatalogueFile>['providers'],
  keyOf: (variable: string) => Secret | undefined,
): Model {
  const maxOutputTokens = entry.maxOutputTokens ?? 0
  const routes = entry.routes.map(route => routeOf(route, entries[route.provider], keyOf))
  return {
    id: entry.id,
    type: entry.type ?? 'chat',
    prices: {
      inMicro: BigInt(entry.inMicro),
      outMicro: BigInt(entry.outMicro),
      cachedInMicro: priceOrNull(entry.cachedInMicro),
      cacheWriteMicro: priceOrNull(entry.cacheWriteMicro),
    },
    contextTokens: entry.contextTokens,
    maxOutputTokens,
    minCompletionTokens: Math.min(entry.minCompletionTokens ?? MIN_COMPLETION_TOKENS, maxOutputTokens),
    mediaTokens: entry.mediaTokens ?? {},
    created: entry.created ?? 0,
    ownedBy: entry.ownedBy ?? entry.routes[0]?.provider ?? 'tollgate',
    routes,
  }
}

function routeOf(
  route: Static<typeof RouteEntry>,
  entry: Static<typeof ProviderEntry> | undefined,
  keyOf: (variable: string) => Secret | undefined,
): Route {
  const provider = providers.get(entry?.kind ?? '')
  // `problemsOf` has said so before.
  if (!entry || !provider) throw new Error(`the route to ${route.provider} has no provider`)
  return {
    name: `${route.provider}/${route.model}`,
    provider,
    target: {
      baseUrl: entry.baseUrl.replace(/\/+$/, ''),
      apiKey: (entry.apiKeyEnv && keyOf(entry.apiKeyEnv)) || null,
      model: route.model,
      limitField: entry.limitField ?? null,
    },
    bound: { ...provider.bound, byteMultiplier: entry.byteMultiplier ?? provider.bound.byteMultiplier },
    order: route.order ?? 0,
    weight: route.weight ?? 1,
    concurrency: route.concurrency ?? CONCURRENCY,
  }
}

function priceOrNull(price: number | undefined): bigint | null {
  return price === undefined ? null : BigInt(price)
}
