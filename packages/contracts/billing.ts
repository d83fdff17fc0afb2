import { Type } from '@sinclair/typebox'
import { event } from './ask.ts'
import { User } from './auth.ts'
import { AccountId } from './ids.ts'
import { Micro } from './money.ts'

/** Least top-up in micro-USD (interface.md, "Limits"). */
export const MIN_TOPUP_MICRO = 1_000_000n
/** Life of a quote (interface.md: about 15 minutes). */
export const INTENT_TTL_MS = 15 * 60_000

/** A top-up intent as its owner sees it (interface.md, "Top-up intent"). */
export const Intent = Type.Object({
  reference: Type.String(),
  url: Type.String(),
  tokenAmount: Type.String(),
  tokenAmountRaw: Type.String(),
  decimals: Type.Integer(),
  mint: Type.String(),
  recipient: Type.String(),
  network: Type.String(),
  usdAmount: Type.String(),
  price: Type.Number(),
  expiresAt: Type.Integer(),
  blockhash: Type.String(),
  lastValidBlockHeight: Type.Integer(),
})

export const TopupRequest = Type.Object({ amount: Type.String({ minLength: 1, maxLength: 40 }) })
export const TopupAnswer = Type.Object({ intent: Intent })
export const VerifyTopupRequest = Type.Object({
  reference: Type.String({ minLength: 1, maxLength: 64 }),
  signature: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
})
export const VerifyTopupAnswer = Type.Object({ ok: Type.Literal(true), creditsMicro: Type.Integer(), user: User })
export const BalanceAnswer = Type.Object({
  creditsMicro: Type.Integer(),
  heldMicro: Type.Integer(),
  availableMicro: Type.Integer(),
  creditsUsd: Type.Number(),
})

const literals = <const T extends readonly string[]>(...values: T) =>
  Type.Unsafe<T[number]>(Type.Union(values.map(value => Type.Literal(value))))

/** Where an intent stands. `processing`: paid, but not deep enough on the chain yet. */
export const IntentStatus = literals('awaiting', 'processing', 'credited', 'expired')
/** What is out of the ordinary about an intent's payments. */
export const IntentException = literals('none', 'underpaid', 'overpaid', 'late', 'multiple')

/** A payment as the intent's owner sees it. */
export const IntentPayment = Type.Object({
  signature: Type.String(),
  /** Base units that count for the intent. */
  amountRaw: Type.String(),
  state: literals('processing', 'credited', 'underpaid', 'late', 'multiple', 'vanished'),
  /** Block time; null while no node knows it. */
  paidAt: Type.Union([Type.Integer(), Type.Null()]),
  seenAt: Type.Integer(),
})

/** What happened to an intent, oldest first. */
export const IntentMoment = Type.Object({
  event: literals('created', 'payment_seen', 'credited', 'expired'),
  at: Type.Integer(),
  signature: Type.Optional(Type.String()),
})

/** An intent with its history. */
export const IntentDetail = Type.Object({
  ...Intent.properties,
  status: IntentStatus,
  exception: IntentException,
  createdAt: Type.Integer(),
  /** Base units received in time, and still missing. */
  receivedRaw: Type.String(),
  missingRaw: Type.String(),
  /** Null until credited. */
  creditsMicro: Type.Union([Type.Integer(), Type.Null()]),
  payments: Type.Array(IntentPayment),
  timeline: Type.Array(IntentMoment),
})
export const IntentDetailAnswer = Type.Object({ intent: IntentDetail })
export const IntentList = Type.Object({
  data: Type.Array(IntentDetail),
  /** Give it as `before` for the next page; null on the last one. */
  next: Type.Union([Type.String(), Type.Null()]),
})

/** Entries of a page, 1 to 100: text, as everything in a query. */
const Limit = Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$' }))
export const IntentQuery = Type.Object({ limit: Limit, before: Type.Optional(Type.String({ maxLength: 64 })) })

/** One change of the balance, explained. */
export const Transaction = Type.Object({
  id: Type.String(),
  kind: literals('credit', 'adjustment', 'charge'),
  at: Type.Integer(),
  /** Signed: charges are negative. */
  amountMicro: Type.Integer(),
  /** The balance after it. */
  balanceMicro: Type.Integer(),
  /** Of a charge. */
  requestId: Type.Optional(Type.String()),
  key: Type.Optional(Type.String()),
  model: Type.Optional(Type.String()),
  promptTokens: Type.Optional(Type.Integer()),
  cachedTokens: Type.Optional(Type.Integer()),
  completionTokens: Type.Optional(Type.Integer()),
  inMicro: Type.Optional(Type.Integer()),
  outMicro: Type.Optional(Type.Integer()),
  /** True when the provider reported no usage and we counted. */
  estimated: Type.Optional(Type.Boolean()),
  outcome: Type.Optional(Type.String()),
  /** Of a credit: the payment. */
  signature: Type.Optional(Type.String()),
  tokenAmountRaw: Type.Optional(Type.String()),
  price: Type.Optional(Type.String()),
  /** Of an adjustment. */
  reason: Type.Optional(Type.String()),
})
export const TransactionList = Type.Object({
  data: Type.Array(Transaction),
  next: Type.Union([Type.String(), Type.Null()]),
})
export const TransactionQuery = Type.Object({
  limit: Limit,
  before: Type.Optional(Type.String({ pattern: '^[0-9]{1,19}$' })),
})

const Day = Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' })
/** What was used in a day (UTC) of a model with a key; null: with a session. */
export const UsageRow = Type.Object({
  day: Day,
  model: Type.String(),
  key: Type.Union([Type.String(), Type.Null()]),
  requests: Type.Integer(),
  promptTokens: Type.Integer(),
  cachedTokens: Type.Integer(),
  completionTokens: Type.Integer(),
  costMicro: Type.Integer(),
})
export const UsageAnswer = Type.Object({ data: Type.Array(UsageRow) })
/** Postgres takes no NUL in a text, not even to look for it. */
const storable = '^[^\\u0000]*$'

export const UsageQuery = Type.Object({
  /** First and last day, UTC; the last 30 days where not given. */
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  model: Type.Optional(Type.String({ maxLength: 200, pattern: storable })),
  key: Type.Optional(Type.String({ maxLength: 80, pattern: storable })),
  format: Type.Optional(literals('json', 'csv')),
})

/** An intent was credited. */
export const topupCredited = event('events.topup.credited', {
  owner: 'billing',
  payload: Type.Object({
    v: Type.Literal(1),
    account: AccountId,
    intent: Type.String(),
    signature: Type.String(),
    amountMicro: Micro,
    at: Type.Integer(),
  }),
})

/** Billing's durable consumers of EVENTS: payments to match, and the journal behind the usage read model. */
export const PAYMENTS_DURABLE = 'billing_payments'
export const USAGE_DURABLE = 'billing_usage'
