import { CreateKeyRequest, PatchKeyRequest, PublicError, RollKeyRequest } from '@tollgate/contracts'
import { accountOf, type ServiceHttpOptions, serviceHttp } from '@tollgate/service'
import type { KeyRing } from './key-ring.ts'

export interface KeysHttpParts extends Omit<ServiceHttpOptions, 'service'> {
  ring: KeyRing
}

/** `/keys*`, behind the router. All that a creation or a roll may say is optional, so its body is too. */
export function keysHttp({ ring, ...shell }: KeysHttpParts) {
  return serviceHttp({ service: 'keys', ...shell })
    .get('/keys', ({ request }) => ring.list(accountOf(request)))
    .post('/keys', ({ request, body }) => ring.create(accountOf(request), body), {
      parse: objectOrNothing,
      body: CreateKeyRequest,
    })
    .patch('/keys/:id', ({ request, params, body }) => ring.change(accountOf(request), params.id, body), {
      body: PatchKeyRequest,
    })
    .post('/keys/:id/roll', ({ request, params, body }) => ring.roll(accountOf(request), params.id, body), {
      parse: objectOrNothing,
      body: RollKeyRequest,
    })
    .delete('/keys/:id', async ({ request, params }) => {
      await ring.revoke(accountOf(request), params.id)
      return { ok: true }
    })
}

/**
 * An empty body is `{}`, any other must be JSON. Elysia's own optional body takes what it can't read for none, and a cap with
 * a slip of the pen would make a key without one.
 */
async function objectOrNothing({ request }: { request: Request }): Promise<unknown> {
  const text = await request.text()
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw new PublicError('bad_request', 'the body must be JSON')
  }
}
