import { type LimitName, PublicError, type RequestId, type Route } from '@tollgate/contracts'
import { type IdentitySecrets, signIdentity } from '@tollgate/identity'
import { takeBody } from './body.ts'
import { type Caller, type Callers, limitTokenOf } from './callers.ts'
import { addressGroup, clientAddress } from './client-ip.ts'
import { checkOrigin, type Origins } from './cors.ts'
import { isByCookie, readCredential } from './credential.ts'
import { type ForwardOptions, forward } from './forward.ts'
import type { Decision } from './gate.ts'
import { headersForService } from './headers.ts'
import { checkJsonShape } from './json-shape.ts'
import type { KeyUsage } from './key-usage.ts'
import { addLimitHeaders, type Gates, type Limits, rateLimited } from './limits.ts'

/** One request at the edge. */
export interface Call {
  readonly id: RequestId
  readonly request: Request
  /** Path and query. */
  readonly target: string
  /** Of the socket. */
  address(): string
  /** Lets the connection be quiet for as long as the request takes; `lower` ends that. */
  lift(): void
  lower(): void
}

export interface HandleParts extends ForwardOptions {
  readonly callers: Callers
  readonly gates: Gates
  readonly limits: Limits
  readonly keyUsage: KeyUsage
  readonly identity: IdentitySecrets
  readonly origins: Origins
  readonly trustedProxies: number
  readonly times: Times
}

/** What a call waits for here, in seconds. */
export interface Times {
  limited(seconds: number): void
  forwarded(seconds: number): void
}

/**
 * A call of a route, in this order: origin, credential, size, limit, service. What is refused costs no more than what stands
 * before it. Throws `PublicError` for every listed refusal.
 */
export async function handle(call: Call, route: Route, parts: HandleParts): Promise<Response> {
  const { request } = call
  if (route.method !== 'GET') checkOrigin(request.headers.get('origin'), isByCookie(request.headers), parts.origins)
  const caller = await callerOf(request, route, parts.callers)
  const reading = takeBody(request, route)
  // Both are awaited below; a body that fails while the limit refuses is nobody's business.
  if (reading instanceof Promise) reading.catch(() => undefined)
  const decision = route.limit ? await takePlace(route.limit, limitToken(call, route, caller, parts), parts) : null
  if (decision && !decision.allowed) return rateLimited(decision)

  const body = await reading
  // Chat bodies are large and their own service reads them once, with care.
  if (body.kind === 'whole' && !route.streams) checkJsonShape(body.bytes)
  const headers = headersForService(request.headers, identityOf(call, route, caller, parts), call.id)
  const forwardedAt = performance.now()
  const answer = await forward({ ...call, route, headers, body }, parts)
  parts.times.forwarded(secondsSince(forwardedAt))
  if (caller) remember(call, route, caller, parts, answer)
  if (decision) addLimitHeaders(answer.headers, decision)
  return answer
}

async function takePlace(limit: LimitName, token: string, { gates, times }: HandleParts): Promise<Decision> {
  const askedAt = performance.now()
  const decision = await gates[limit].take(token)
  times.limited(secondsSince(askedAt))
  return decision
}

function secondsSince(at: number): number {
  return (performance.now() - at) / 1_000
}

/** Who calls; null where nobody need be signed in. Throws 401 where somebody must. */
async function callerOf(request: Request, route: Route, callers: Callers): Promise<Caller | null> {
  if (route.auth === 'none') return null
  const credential = readCredential(request.headers)
  const caller = await callers.resolve(credential)
  if (caller || route.auth === 'optional') return caller
  throw new PublicError('unauthorized', unauthorizedMessage(credential.kind))
}

function unauthorizedMessage(kind: ReturnType<typeof readCredential>['kind']): string {
  return kind === 'none' ? 'send an API key as a bearer token, or sign in' : 'this API key or session is not valid'
}

function identityOf(call: Call, route: Route, caller: Caller | null, { identity }: HandleParts): string {
  const claims = {
    aud: route.service,
    acct: caller?.account ?? null,
    usr: caller?.user ?? null,
    key: caller?.key ?? null,
    session: caller?.session ?? null,
    models: caller?.models ? [...caller.models] : null,
    rid: call.id,
  }
  return signIdentity(claims, identity, Date.now())
}

/** Whose calls are counted together: a user's over all his credentials, or an address's. */
function limitToken(call: Call, route: Route, caller: Caller | null, parts: HandleParts): string {
  if (caller && route.limit && parts.limits[route.limit].per === 'user') return caller.limitToken
  const address = clientAddress(call.address(), call.request.headers.get('x-forwarded-for'), parts.trustedProxies)
  return limitTokenOf('ip', addressGroup(address))
}

/** The key was used; and what a call changed through this router is not answered from memory afterwards. */
function remember(call: Call, route: Route, caller: Caller, parts: HandleParts, answer: Response): void {
  if (caller.key) parts.keyUsage.used(caller.key, Date.now())
  if (route.method === 'GET' || !answer.ok) return
  if (route.service === 'auth') parts.callers.forgetSessionsOf(caller.user)
  const keyId = route.service === 'keys' ? /^\/keys\/([^/?]+)/.exec(call.target)?.[1] : undefined
  if (keyId !== undefined) parts.callers.forgetKey(keyId)
}
