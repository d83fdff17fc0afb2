import { Type } from '@sinclair/typebox'
import { ask, event } from './ask.ts'
import { AccountId, SessionId, UserId } from './ids.ts'

/** A base58 wallet address: 32 bytes. The grammar is checked here, the bytes where they are used. */
export const WalletAddress = Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' })

/** The user as callers see it (interface.md, "User"). */
export const User = Type.Object({
  id: UserId,
  wallet: Type.String(),
  tier: Type.String(),
  tierLabel: Type.String(),
  tokenBalance: Type.Number(),
  creditsMicro: Type.Integer(),
  creditsUsd: Type.Number(),
})

/** SHA-256 of a session secret, base64url: the secret itself never leaves the router and auth. */
const SecretHash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

/** Whose session is this? */
export const resolveSession = ask('auth.resolve', {
  owner: 'auth',
  callers: ['router'],
  request: Type.Object({ sessionHash: SecretHash }),
  reply: Type.Union([
    Type.Object({
      status: Type.Literal('active'),
      session: SessionId,
      account: AccountId,
      user: UserId,
      expiresAt: Type.Integer(),
    }),
    Type.Object({ status: Type.Literal('unknown') }),
  ]),
})

/** The user of an account, with the balances that the answer to a caller shows. */
export const getUser = ask('auth.user', {
  owner: 'auth',
  callers: ['billing'],
  request: Type.Object({ account: AccountId }),
  reply: Type.Union([
    Type.Object({ status: Type.Literal('found'), user: User }),
    Type.Object({ status: Type.Literal('unknown') }),
  ]),
})

/** A session ended before its time: routers forget it. */
export const sessionEnded = event('events.session.ended', {
  owner: 'auth',
  payload: Type.Object({ v: Type.Literal(1), session: SessionId, sessionHash: SecretHash, at: Type.Integer() }),
})

/** Nonces by KV bucket; the bucket's age limit is a nonce's life. */
export const NONCE_BUCKET = 'nonces'

export const NonceRequest = Type.Object({ address: Type.String({ minLength: 1, maxLength: 64 }) })
export const NonceAnswer = Type.Object({ nonce: Type.String(), message: Type.String() })
export const VerifySignInRequest = Type.Object({
  address: Type.String({ minLength: 1, maxLength: 64 }),
  signature: Type.String({ minLength: 1, maxLength: 128 }),
  nonce: Type.String({ minLength: 1, maxLength: 64 }),
  /** For wallets that wrap what they sign: the signed bytes, base58. Reading base58 is quadratic; an envelope is below 1,800 characters. */
  signedMessage: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
})
export const UserAnswer = Type.Object({ user: User })
export const SessionList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: SessionId,
      current: Type.Boolean(),
      createdAt: Type.Integer(),
      lastUsedAt: Type.Integer(),
      expiresAt: Type.Integer(),
    }),
  ),
})

/** The session cookie's name (interface.md, "Authentication"). */
export const SESSION_COOKIE = 'svc_session'

export const authAsks = { resolveSession, getUser } as const
