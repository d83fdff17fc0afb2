import { Type } from '@sinclair/typebox'
import { batchedAsk, event } from './ask.ts'
import { AccountId, KeyId, UserId } from './ids.ts'
import { CapWindow } from './ledger.ts'

/** The key prefix that lists show, and with which every key begins (interface.md, "Key"). */
export const KEY_PREFIX = 'svc_live'

/** SHA-256 of the full key, base64url: all that is ever stored or sent of it. */
export const KeyHash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

const ModelList = Type.Union([
  Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100 }),
  Type.Null(),
])

/** Whose key is this? */
export const resolveKey = batchedAsk('keys.resolve', {
  owner: 'keys',
  callers: ['router'],
  request: Type.Object({ keyHash: KeyHash }),
  reply: Type.Union([
    Type.Object({
      status: Type.Literal('active'),
      key: KeyId,
      account: AccountId,
      user: UserId,
      /** Models that the key may use; null for all. */
      models: ModelList,
      expiresAt: Type.Union([Type.Integer(), Type.Null()]),
    }),
    Type.Object({ status: Type.Literal('unknown') }),
  ]),
})

/** A key was revoked, expired or changed: routers forget what they know of it. */
export const keyChanged = event('events.key.changed', {
  owner: 'keys',
  payload: Type.Object({ v: Type.Literal(1), key: KeyId, keyHash: KeyHash, at: Type.Integer() }),
})

/** Keys that were used since the last report, coalesced by the router: `lastUsedAt` is written in batches, and losing one is harmless. */
export const KEY_USED_SUBJECT = 'keys.used'
export const KeysUsed = Type.Object({
  used: Type.Array(Type.Object({ key: KeyId, at: Type.Integer() }), { maxItems: 1000 }),
})

/** A key as listed (interface.md, "Key (as listed)"), with its cap where it has one. */
export const ListedKey = Type.Object({
  id: KeyId,
  name: Type.String(),
  prefix: Type.String(),
  last4: Type.String(),
  createdAt: Type.Integer(),
  lastUsedAt: Type.Integer(),
  expiresAt: Type.Union([Type.Integer(), Type.Null()]),
  models: ModelList,
  spendCapMicro: Type.Union([Type.Integer(), Type.Null()]),
  spendWindow: CapWindow,
  spentMicro: Type.Integer(),
  windowResetsAt: Type.Union([Type.Integer(), Type.Null()]),
})
export const KeyList = Type.Object({ canCreate: Type.Boolean(), data: Type.Array(ListedKey) })

const capFields = {
  spendCapUsd: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  spendCapMicro: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  spendWindow: Type.Optional(CapWindow),
  expiresAt: Type.Optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])),
  models: Type.Optional(ModelList),
}
export const KeyName = Type.String({ minLength: 1, maxLength: 100 })
export const CreateKeyRequest = Type.Object({ name: Type.Optional(KeyName), ...capFields })
export const PatchKeyRequest = Type.Object({ name: Type.Optional(KeyName), ...capFields })
export const RollKeyRequest = Type.Object({
  graceSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 604_800 })),
})
export const CreatedKey = Type.Object({
  key: Type.String(),
  id: KeyId,
  name: Type.String(),
  prefix: Type.String(),
  last4: Type.String(),
  createdAt: Type.Integer(),
  notice: Type.String(),
})
export const OkAnswer = Type.Object({ ok: Type.Literal(true) })

/** Active keys that one user may have; at the limit creation is 403 and `canCreate` false. */
export const MAX_ACTIVE_KEYS = 100

export const keysAsks = { resolveKey } as const
