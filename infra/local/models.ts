import catalogue from './models.json' with { type: 'json' }

/** The provider of `models.json` that stands for the simulated upstream, whose port differs from stack to stack. */
const SIMULATED = 'simulated'
const REAL = 'openai'

/** The catalogue of a stack without a MODELS_FILE: real where there is a provider key, simulated where there is none. */
export function localCatalogue(upstreamUrl: string, hasProviderKey: boolean): unknown {
  const { [REAL]: real, [SIMULATED]: simulated } = catalogue.providers
  const ours = { [SIMULATED]: { ...simulated, baseUrl: upstreamUrl } }
  if (hasProviderKey) return { ...catalogue, providers: { [REAL]: real, ...ours } }
  const models = catalogue.models.map(model => ({
    ...model,
    routes: model.routes.map(route => ({ ...route, provider: SIMULATED })),
  }))
  return { providers: ours, models }
}
