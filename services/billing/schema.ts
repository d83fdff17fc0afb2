import {
  bigint,
  boolean,
  date,
  integer,
  jsonb,
  numeric,
  pgSchema,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core'

/** The tables of `migrations/`. */
const schema = pgSchema('billing')
const moment = (name: string) => timestamp(name, { withTimezone: true })
const raw = (name: string) => numeric(name, { precision: 20, mode: 'bigint' })
const micro = (name: string) => bigint(name, { mode: 'bigint' })

export const intent = schema.table('intent', {
  id: text('id').primaryKey(),
  reference: text('reference').notNull(),
  account: text('account').notNull(),
  usdMicro: micro('usd_micro').notNull(),
  tokenRaw: raw('token_raw').notNull(),
  decimals: integer('decimals').notNull(),
  mint: text('mint').notNull(),
  treasury: text('treasury').notNull(),
  network: text('network').notNull(),
  priceScaled: numeric('price_scaled', { precision: 40, mode: 'bigint' }).notNull(),
  priceSources: jsonb('price_sources').notNull(),
  blockhash: text('blockhash').notNull(),
  lastValidBlockHeight: bigint('last_valid_block_height', { mode: 'number' }).notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  expiresAt: moment('expires_at').notNull(),
})

export const payment = schema.table('payment', {
  signature: text('signature').primaryKey(),
  intent: text('intent'),
  network: text('network').notNull(),
  mint: text('mint').notNull(),
  treasury: text('treasury').notNull(),
  slot: bigint('slot', { mode: 'number' }).notNull(),
  blockTime: moment('block_time'),
  deltaRaw: raw('delta_raw').notNull(),
  attributedRaw: raw('attributed_raw').notNull(),
  legs: jsonb('legs').notNull(),
  settled: boolean('settled').notNull(),
  state: text('state', {
    enum: ['received', 'processing', 'credited', 'underpaid', 'late', 'multiple', 'unmatched', 'vanished'],
  }).notNull(),
  receivedAt: moment('received_at').notNull().defaultNow(),
  resolvedAt: moment('resolved_at'),
})

export const settlement = schema.table('settlement', {
  intent: text('intent').primaryKey(),
  signature: text('signature').notNull(),
  signatures: text('signatures').array().notNull(),
  receivedRaw: raw('received_raw').notNull(),
  amountMicro: micro('amount_micro').notNull(),
  claimedAt: moment('claimed_at').notNull().defaultNow(),
  creditedAt: moment('credited_at'),
  publishedAt: moment('published_at'),
  verifiedAt: moment('verified_at'),
})

export const paymentNote = schema.table('payment_note', {
  id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
  signature: text('signature').notNull(),
  text: text('text').notNull(),
  adjustment: text('adjustment'),
  amountMicro: micro('amount_micro'),
  at: moment('at').notNull().defaultNow(),
})

export const usageDay = schema.table(
  'usage_day',
  {
    account: text('account').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    model: text('model').notNull(),
    key: text('key').notNull(),
    requests: bigint('requests', { mode: 'number' }).notNull(),
    promptTokens: bigint('prompt_tokens', { mode: 'number' }).notNull(),
    cachedTokens: bigint('cached_tokens', { mode: 'number' }).notNull(),
    completionTokens: bigint('completion_tokens', { mode: 'number' }).notNull(),
    costMicro: micro('cost_micro').notNull(),
  },
  table => [primaryKey({ columns: [table.account, table.day, table.model, table.key] })],
)
