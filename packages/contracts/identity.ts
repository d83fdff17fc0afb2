import { Type } from '@sinclair/typebox'
import { AccountId, KeyId, RequestId, SessionId, UserId } from './ids.ts'

/** The header by which the router tells a service who calls. A caller's own copy of it is dropped at the edge. */
export const IDENTITY_HEADER = 'x-tollgate-identity'
export const REQUEST_ID_HEADER = 'x-request-id'

/** The claims in it. Either a key or a session carried the call; for public paths there is no account. */
export const Identity = Type.Object({
  v: Type.Literal(1),
  /** The service that it is made for. */
  aud: Type.String(),
  acct: Type.Union([AccountId, Type.Null()]),
  usr: Type.Union([UserId, Type.Null()]),
  key: Type.Union([KeyId, Type.Null()]),
  session: Type.Union([SessionId, Type.Null()]),
  /** Models that the key may use; null for all. */
  models: Type.Union([Type.Array(Type.String()), Type.Null()]),
  rid: RequestId,
  exp: Type.Integer(),
})
