import { bigint, integer, jsonb, pgSchema, primaryKey, text, timestamp } from 'drizzle-orm/pg-core'

/** The tables of `migrations/`. */
const schema = pgSchema('chain_watcher')
const moment = (name: string) => timestamp(name, { withTimezone: true })

export const scanCursor = schema.table(
  'scan_cursor',
  {
    genesisHash: text('genesis_hash').notNull(),
    tokenAccount: text('token_account').notNull(),
    slot: bigint('slot', { mode: 'number' }).notNull(),
    movedAt: moment('moved_at').notNull().defaultNow(),
  },
  table => [primaryKey({ columns: [table.genesisHash, table.tokenAccount] })],
)

export const sighting = schema.table('sighting', {
  signature: text('signature').primaryKey(),
  genesisHash: text('genesis_hash').notNull(),
  tokenAccount: text('token_account').notNull(),
  slot: bigint('slot', { mode: 'number' }).notNull(),
  state: text('state', { enum: ['listed', 'nothing', 'payment', 'parked', 'vanished'] })
    .notNull()
    .default('listed'),
  attempts: integer('attempts').notNull().default(0),
  dueAt: moment('due_at').notNull().defaultNow(),
  note: text('note'),
  commitment: text('commitment', { enum: ['confirmed', 'finalized'] }),
  payment: jsonb('payment'),
  announced: text('announced'),
  seenAt: moment('seen_at').notNull().defaultNow(),
})
