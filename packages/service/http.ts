import { IDENTITY_HEADER, PublicError, type ServiceName } from '@tollgate/contracts'
import { type Identity, type IdentitySecrets, readIdentity } from '@tollgate/identity'
import { Elysia } from 'elysia'
import { publicErrorOf } from './answers.ts'
import type { Log } from './log.ts'

export type Account = Identity & { acct: NonNullable<Identity['acct']>; usr: NonNullable<Identity['usr']> }

export interface ServiceHttpOptions {
  service: ServiceName
  secrets: IdentitySecrets
  log: Log
}

const identities = new WeakMap<Request, Identity>()

/**
 * The Elysia instance of a service behind the router: every request carries an identity that the router signed for this
 * service, or is answered 401 here; every error has our body. Read the caller with `identityOf` or `accountOf`.
 */
export function serviceHttp({ service, secrets, log }: ServiceHttpOptions) {
  return new Elysia({ name: service, normalize: 'typebox' })
    .onRequest(({ request }) => {
      const identity = readIdentity(request.headers.get(IDENTITY_HEADER), service, secrets, Date.now())
      if (!identity) return new PublicError('unauthorized', 'this service answers through the router only').toResponse()
      identities.set(request, identity)
      // Every body is JSON (interface.md, "Endpoints"), whatever it is called: Elysia would take `APPLICATION/JSON` for nothing,
      // and read a form or bytes as an object without fields.
      request.headers.set('content-type', 'application/json')
      return undefined
    })
    .onError({ as: 'global' }, ({ error, request }) =>
      publicErrorOf(error, log, identities.get(request)?.rid).toResponse(),
    )
}

/** Who calls; on public paths `acct` is null. */
export function identityOf(request: Request): Identity {
  const identity = identities.get(request)
  if (!identity) throw new PublicError('unauthorized', 'sign in, or send an API key')
  return identity
}

/** The account that calls. Throws 401 where the path is public and nobody signed in. */
export function accountOf(request: Request): Account {
  const identity = identityOf(request)
  if (!identity.acct || !identity.usr) throw new PublicError('unauthorized', 'sign in, or send an API key')
  return { ...identity, acct: identity.acct, usr: identity.usr }
}
