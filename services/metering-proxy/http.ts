import { accountOf, type ServiceHttpOptions, serviceHttp } from '@tollgate/service'
import type { Server } from 'bun'
import { bytesOf, type CompletionsOptions, complete } from './completions.ts'
import { embed } from './embeddings.ts'
import { listModels, oneModel } from './models.ts'
import { type OnceOptions, once, type Tap } from './once.ts'

export interface HttpOptions extends CompletionsOptions {
  readonly secrets: ServiceHttpOptions['secrets']
  readonly once: OnceOptions
}

/**
 * The service's endpoints. Chat bodies bypass Elysia's parsing and schemas: those drop fields that they don't know, and a
 * provider may know them.
 */
export function meteringHttp(options: HttpOptions) {
  const servers = new WeakMap<Request, Server<undefined>>()
  const paid = async (request: Request, answer: typeof complete) => {
    const body = await bytesOf(request)
    // The idle timer guards against slow bodies; from here on silence is the provider's.
    servers.get(request)?.timeout(request, 0)
    const idempotencyKey = request.headers.get('idempotency-key')
    if (idempotencyKey === null) return await answer(request, body, options)
    const run = (tap: Tap) => answer(request, body, { ...options, tap })
    return await once({ caller: accountOf(request), idempotencyKey, body, signal: request.signal, run }, options.once)
  }
  const app = serviceHttp({ service: 'metering-proxy', secrets: options.secrets, log: options.log })
    .get('/v1/models', () => listModels(options.catalogue))
    .get('/v1/models/:id', ({ params }) => oneModel(options.catalogue, params.id))
    .post('/v1/chat/completions', ({ request }) => paid(request, complete), { parse: 'none' })
    .post('/v1/embeddings', ({ request }) => paid(request, embed), { parse: 'none' })
  return {
    fetch(request: Request, server?: Server<undefined>): Response | Promise<Response> {
      if (server) servers.set(request, server)
      return app.fetch(request)
    },
  }
}
