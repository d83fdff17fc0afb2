import type { TObject, TSchema } from '@sinclair/typebox'
import { NonceAnswer, NonceRequest, SessionList, UserAnswer, VerifySignInRequest } from './auth.ts'
import {
  BalanceAnswer,
  IntentDetailAnswer,
  IntentList,
  IntentQuery,
  TopupAnswer,
  TopupRequest,
  TransactionList,
  TransactionQuery,
  UsageAnswer,
  UsageQuery,
  VerifyTopupAnswer,
  VerifyTopupRequest,
} from './billing.ts'
import { ChatAnswer, ChatRequest } from './chat.ts'
import { EmbeddingsAnswer, EmbeddingsRequest } from './embeddings.ts'
import { CreatedKey, CreateKeyRequest, KeyList, ListedKey, OkAnswer, PatchKeyRequest, RollKeyRequest } from './keys.ts'
import type { LimitName } from './limits.ts'
import { ListedModel, ModelList } from './models.ts'

/** A public endpoint: the router's table, the tests' table and the source of the OpenAPI document. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly service: 'auth' | 'keys' | 'billing' | 'metering-proxy'
  /** `required`: API key or session. `optional`: passed on when it is there and valid. `none`: not looked at. */
  readonly auth: 'required' | 'optional' | 'none'
  readonly limit?: LimitName
  readonly bodyMaxBytes: number
  readonly summary: string
  readonly query?: TObject
  readonly request?: TSchema
  readonly answer?: TSchema
  /** Answers as server-sent events when the request says so. */
  readonly streams?: true
}

/** Small JSON bodies: names, amounts, signatures. */
const SMALL_BODY_BYTES = 64 * 1024
/** Chat bodies carry images and long contexts. Below Bun's own limit, so that the refusal is ours. */
const CHAT_BODY_BYTES = 32 * 1024 * 1024
const small = { bodyMaxBytes: SMALL_BODY_BYTES } as const

export const routes: readonly Route[] = [
  {
    method: 'POST',
    path: '/auth/nonce',
    service: 'auth',
    auth: 'none',
    limit: 'nonce',
    ...small,
    summary: 'Ask for the text to sign',
    request: NonceRequest,
    answer: NonceAnswer,
  },
  {
    method: 'POST',
    path: '/auth/verify',
    service: 'auth',
    // The session that the browser already has ends with a new sign-in.
    auth: 'optional',
    ...small,
    summary: 'Sign in with the signed text',
    request: VerifySignInRequest,
    answer: UserAnswer,
  },
  {
    method: 'POST',
    path: '/auth/logout',
    service: 'auth',
    auth: 'optional',
    ...small,
    summary: 'End this session',
    answer: OkAnswer,
  },
  {
    method: 'GET',
    path: '/auth/me',
    service: 'auth',
    auth: 'required',
    ...small,
    summary: 'Who am I',
    answer: UserAnswer,
  },
  {
    method: 'GET',
    path: '/auth/sessions',
    service: 'auth',
    auth: 'required',
    ...small,
    summary: 'List my sessions',
    answer: SessionList,
  },
  {
    method: 'DELETE',
    path: '/auth/sessions',
    service: 'auth',
    auth: 'required',
    ...small,
    summary: 'End all my sessions',
    answer: OkAnswer,
  },
  {
    method: 'DELETE',
    path: '/auth/sessions/:id',
    service: 'auth',
    auth: 'required',
    ...small,
    summary: 'End one session',
    answer: OkAnswer,
  },
  {
    method: 'GET',
    path: '/keys',
    service: 'keys',
    auth: 'required',
    ...small,
    summary: 'List my keys',
    answer: KeyList,
  },
  {
    method: 'POST',
    path: '/keys',
    service: 'keys',
    auth: 'required',
    limit: 'keys',
    ...small,
    summary: 'Create a key',
    request: CreateKeyRequest,
    answer: CreatedKey,
  },
  {
    method: 'DELETE',
    path: '/keys/:id',
    service: 'keys',
    auth: 'required',
    ...small,
    summary: 'Revoke a key',
    answer: OkAnswer,
  },
  {
    method: 'PATCH',
    path: '/keys/:id',
    service: 'keys',
    auth: 'required',
    ...small,
    summary: 'Change a key',
    request: PatchKeyRequest,
    answer: ListedKey,
  },
  {
    method: 'POST',
    path: '/keys/:id/roll',
    service: 'keys',
    auth: 'required',
    ...small,
    summary: 'Give a key a new secret',
    request: RollKeyRequest,
    answer: CreatedKey,
  },
  {
    method: 'POST',
    path: '/billing/topup',
    service: 'billing',
    auth: 'required',
    limit: 'topup',
    ...small,
    summary: 'Quote a top-up',
    request: TopupRequest,
    answer: TopupAnswer,
  },
  {
    method: 'POST',
    path: '/billing/verify',
    service: 'billing',
    auth: 'required',
    limit: 'verify',
    ...small,
    summary: 'Confirm a payment',
    request: VerifyTopupRequest,
    answer: VerifyTopupAnswer,
  },
  {
    method: 'GET',
    path: '/billing/balance',
    service: 'billing',
    auth: 'required',
    ...small,
    summary: 'My balance',
    answer: BalanceAnswer,
  },
  {
    method: 'GET',
    path: '/billing/intents',
    service: 'billing',
    auth: 'required',
    ...small,
    summary: 'My top-ups, newest first',
    query: IntentQuery,
    answer: IntentList,
  },
  {
    method: 'GET',
    path: '/billing/intents/:reference',
    service: 'billing',
    auth: 'required',
    ...small,
    summary: 'One top-up: where it stands, what was received, what happened',
    answer: IntentDetailAnswer,
  },
  {
    method: 'POST',
    path: '/billing/intents/:reference/blockhash',
    service: 'billing',
    auth: 'required',
    ...small,
    summary: 'A fresh blockhash to build the payment against',
    answer: TopupAnswer,
  },
  {
    method: 'GET',
    path: '/billing/transactions',
    service: 'billing',
    auth: 'required',
    ...small,
    summary: 'Every change of my balance, explained, newest first',
    query: TransactionQuery,
    answer: TransactionList,
  },
  {
    method: 'GET',
    path: '/billing/usage',
    service: 'billing',
    auth: 'required',
    ...small,
    summary: 'My usage by day, model and key, as JSON or CSV',
    query: UsageQuery,
    answer: UsageAnswer,
  },
  {
    method: 'GET',
    path: '/v1/models',
    service: 'metering-proxy',
    auth: 'optional',
    ...small,
    summary: 'List models and prices',
    answer: ModelList,
  },
  {
    method: 'GET',
    path: '/v1/models/:id',
    service: 'metering-proxy',
    auth: 'optional',
    ...small,
    summary: 'One model',
    answer: ListedModel,
  },
  {
    method: 'POST',
    path: '/v1/chat/completions',
    service: 'metering-proxy',
    auth: 'required',
    limit: 'chat',
    bodyMaxBytes: CHAT_BODY_BYTES,
    summary: 'Create a chat completion',
    request: ChatRequest,
    answer: ChatAnswer,
    streams: true,
  },
  {
    method: 'POST',
    path: '/v1/embeddings',
    service: 'metering-proxy',
    auth: 'required',
    bodyMaxBytes: CHAT_BODY_BYTES,
    summary: 'Create embeddings',
    request: EmbeddingsRequest,
    answer: EmbeddingsAnswer,
  },
]
