import { type Static, type StaticDecode, Type } from '@sinclair/typebox'
import { ask, batchedAsk, event } from './ask.ts'
import { AccountId, KeyId } from './ids.ts'
import { Micro, SignedMicro } from './money.ts'

/**
 * What the ledger answers, and the facts it publishes. Every operation carries the id that its origin chose and stored:
 * the same id with the same content gets the first answer again, with other content `id_reused`. Refusals are stored too.
 */
const opId = (...kinds: string[]) => Type.String({ maxLength: 200, pattern: `^(?:${kinds.join('|')}):[\\x21-\\x7e]+$` })
const HoldId = opId('hold')
const literals = <const T extends readonly string[]>(...values: T) =>
  Type.Unsafe<T[number]>(Type.Union(values.map(v => Type.Literal(v))))

/** Refused for good: a retry with the same id gets the same answer, a new attempt needs a new id. */
export const LedgerRefusal = literals(
  'insufficient_credits',
  'cap_reached',
  'key_closed',
  'id_reused',
  'hold_closed',
  'unknown_hold',
)
export type LedgerRefusal = Static<typeof LedgerRefusal>
const Refused = Type.Object({
  status: Type.Literal('refused'),
  reason: LedgerRefusal,
  /** What the account, and the key's cap, could still pay for at that moment. */
  availableMicro: Micro,
})

/** What a charge was for: kept in the journal so that each deduction explains itself. */
export const ChargeDetail = Type.Object({
  v: Type.Literal(1),
  requestId: Type.String(),
  model: Type.String(),
  route: Type.String(),
  promptTokens: Type.Integer({ minimum: 0 }),
  cachedTokens: Type.Integer({ minimum: 0 }),
  cacheWriteTokens: Type.Integer({ minimum: 0 }),
  completionTokens: Type.Integer({ minimum: 0 }),
  inMicro: Micro,
  outMicro: Micro,
  cachedInMicro: Type.Union([Micro, Type.Null()]),
  cacheWriteMicro: Type.Union([Micro, Type.Null()]),
  estimated: Type.Boolean(),
  outcome: literals('completed', 'failed', 'aborted', 'timed_out', 'shutdown'),
})

export type ChargeDetail = StaticDecode<typeof ChargeDetail>

/** `id` = `hold:<request id>`. Grants between `minMicro` and `maxMicro`, at most half of what is available when the two differ. */
export const hold = batchedAsk('ledger.hold', {
  owner: 'ledger',
  callers: ['metering-proxy'],
  sharded: true,
  request: Type.Object({
    id: HoldId,
    account: AccountId,
    key: Type.Union([KeyId, Type.Null()]),
    minMicro: Micro,
    maxMicro: Micro,
    /** Life of the hold from the ledger's clock: a duration, so that no caller's clock decides about money. */
    ttlMs: Type.Integer({ minimum: 1_000, maximum: 3_600_000 }),
  }),
  reply: Type.Union([
    Type.Object({ status: Type.Literal('held'), grantedMicro: Micro, availableMicro: Micro }),
    Refused,
  ]),
})

/** Keeps a hold alive and reports the cost so far, which is what its expiry would charge. Takes the later expiry; not journalled. */
export const extend = batchedAsk('ledger.extend', {
  owner: 'ledger',
  callers: ['metering-proxy'],
  sharded: true,
  request: Type.Object({
    hold: HoldId,
    account: AccountId,
    ttlMs: Type.Integer({ minimum: 1_000, maximum: 3_600_000 }),
    costMicro: Micro,
  }),
  reply: Type.Union([Type.Object({ status: Type.Literal('extended') }), Refused]),
})

/** `id` = `settle:<request id>`. Charges min(cost, hold + available) once and frees the rest of the hold. */
export const settle = batchedAsk('ledger.settle', {
  owner: 'ledger',
  callers: ['metering-proxy'],
  sharded: true,
  request: Type.Object({
    id: opId('settle'),
    hold: HoldId,
    account: AccountId,
    costMicro: Micro,
    detail: ChargeDetail,
  }),
  reply: Type.Union([
    Type.Object({ status: Type.Literal('settled'), chargedMicro: Micro, shortfallMicro: Micro, availableMicro: Micro }),
    Refused,
  ]),
})

/** `id` = `release:<request id>`. Frees the hold and charges nothing; one that overtakes its hold refuses that hold. */
export const release = batchedAsk('ledger.release', {
  owner: 'ledger',
  callers: ['metering-proxy'],
  sharded: true,
  request: Type.Object({ id: opId('release'), hold: HoldId, account: AccountId }),
  reply: Type.Union([Type.Object({ status: Type.Literal('released'), freedMicro: Micro }), Refused]),
})

/** `id` = `credit:<transaction signature>`. Money that came in from outside. */
export const credit = batchedAsk('ledger.credit', {
  owner: 'ledger',
  callers: ['billing'],
  sharded: true,
  request: Type.Object({
    id: opId('credit'),
    account: AccountId,
    amountMicro: Micro,
    detail: Type.Object({
      v: Type.Literal(1),
      network: Type.String(),
      mint: Type.String(),
      treasury: Type.String(),
      signature: Type.String(),
      intent: Type.String(),
      tokenRaw: Type.String(),
      price: Type.String(),
    }),
  }),
  reply: Type.Union([Type.Object({ status: Type.Literal('credited'), availableMicro: Micro }), Refused]),
})

/**
 * `id` = `adjust:<operator's own id>`, or `grant:<…>` for credits given away: the same, booked against another system account.
 * The operator's correction, up or down, never below zero.
 */
export const adjust = batchedAsk('ledger.adjust', {
  owner: 'ledger',
  callers: ['operator'],
  sharded: true,
  request: Type.Object({
    id: opId('adjust', 'grant'),
    account: AccountId,
    amountMicro: SignedMicro,
    reason: Type.String({ minLength: 1, maxLength: 500 }),
  }),
  reply: Type.Union([Type.Object({ status: Type.Literal('adjusted'), availableMicro: Micro }), Refused]),
})

/**
 * A cap's window: `none` counts for the key's whole life; the others start anew at midnight UTC (weeks on Monday), and when
 * the window is changed to another kind. A hold counts in the window that granted it.
 */
export const CapWindow = literals('none', 'daily', 'weekly', 'monthly')
export type CapWindow = Static<typeof CapWindow>

/** `id` = `set_cap:<change id>`. Registers a key's spend cap; null lifts it. */
export const setCap = batchedAsk('ledger.set_cap', {
  owner: 'ledger',
  callers: ['keys'],
  sharded: true,
  request: Type.Object({
    id: opId('set_cap'),
    account: AccountId,
    key: KeyId,
    capMicro: Type.Union([Micro, Type.Null()]),
    window: CapWindow,
  }),
  reply: Type.Union([Type.Object({ status: Type.Literal('cap_set') }), Refused]),
})

/** `id` = `close_key:<key id>`. From its answer on, no hold is granted to the key; open holds settle as usual. */
export const closeKey = batchedAsk('ledger.close_key', {
  owner: 'ledger',
  callers: ['keys'],
  sharded: true,
  request: Type.Object({ id: opId('close_key'), account: AccountId, key: KeyId }),
  reply: Type.Union([Type.Object({ status: Type.Literal('key_closed') }), Refused]),
})

/** posted − held = available. An account that the ledger has never seen has zero of each. */
export const balance = ask('ledger.balance', {
  owner: 'ledger',
  callers: ['auth', 'billing', 'operator'],
  sharded: true,
  request: Type.Object({ account: AccountId }),
  reply: Type.Object({ postedMicro: Micro, heldMicro: Micro, availableMicro: Micro }),
})

export const KeySpend = Type.Object({
  key: KeyId,
  capMicro: Type.Union([Micro, Type.Null()]),
  window: CapWindow,
  spentMicro: Micro,
  heldMicro: Micro,
  /** When the window starts anew, ms epoch; null for `none`. */
  resetsAt: Type.Union([Type.Integer(), Type.Null()]),
})

/** Caps and spending of an account's keys in their present window. */
export const keySpend = ask('ledger.key_spend', {
  owner: 'ledger',
  callers: ['keys'],
  sharded: true,
  request: Type.Object({ account: AccountId, keys: Type.Array(KeyId, { maxItems: 200 }) }),
  reply: Type.Object({ keys: Type.Array(KeySpend) }),
})

export const JournalKind = literals('hold', 'settle', 'release', 'expire', 'credit', 'adjust', 'set_cap', 'close_key')

export type JournalKind = Static<typeof JournalKind>

/** One journalled operation, refusals included, as consumers and the account's owner see it. */
export const JournalEntry = Type.Object({
  v: Type.Literal(1),
  seq: Type.String(),
  id: Type.String(),
  kind: JournalKind,
  account: AccountId,
  key: Type.Union([KeyId, Type.Null()]),
  hold: Type.Union([Type.String(), Type.Null()]),
  /** Null when posted, else why it was refused. */
  refusal: Type.Union([LedgerRefusal, Type.Null()]),
  /** Change of the posted balance. */
  amountMicro: SignedMicro,
  /** Change of what this account's charges could not cover; below zero when a late settlement covers some of it. */
  shortfallMicro: SignedMicro,
  postedMicro: Micro,
  heldMicro: Micro,
  detail: Type.Record(Type.String(), Type.Unknown()),
  at: Type.Integer(),
})
export type JournalEntry = StaticDecode<typeof JournalEntry>

/** An account's journal, newest first; `before` is the `seq` of the last entry of the previous page. */
export const history = ask('ledger.history', {
  owner: 'ledger',
  callers: ['billing', 'operator'],
  sharded: true,
  request: Type.Object({
    account: AccountId,
    kinds: Type.Array(JournalKind, { maxItems: 8 }),
    before: Type.Union([Type.String({ pattern: '^[0-9]{1,19}$' }), Type.Null()]),
    limit: Type.Integer({ minimum: 1, maximum: 200 }),
  }),
  reply: Type.Object({ entries: Type.Array(JournalEntry), next: Type.Union([Type.String(), Type.Null()]) }),
})

/**
 * The journal as facts: `events.ledger.<kind>`. A message holds entries of its kind in the order of `seq`; its id names
 * its first and its last entry, so a round of the relay that is repeated with the same entries is stored once. One repeated
 * with more of them comes under another id: consumers dedupe by the `id` of each entry.
 */
export const journalled = event('events.ledger.*', { owner: 'ledger', payload: Type.Array(JournalEntry) })

/**
 * The work queue where settlements wait while only the ledger or Postgres is away; last token = shard. A message is one
 * request of `settle` or of `release`, as on the wire; its `id` says which, and is the message id.
 */
export const SETTLEMENTS_SUBJECT = 'settlements'

export const ledgerAsks = {
  hold,
  extend,
  settle,
  release,
  credit,
  adjust,
  setCap,
  closeKey,
  balance,
  keySpend,
  history,
} as const
