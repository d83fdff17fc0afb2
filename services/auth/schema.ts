import { pgSchema, text, timestamp } from 'drizzle-orm/pg-core'

const auth = pgSchema('auth')
const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })

export const users = auth.table('users', {
  id: text('id').primaryKey(),
  wallet: text('wallet').notNull(),
  accountId: text('account_id').notNull(),
  createdAt: moment('created_at').notNull(),
})

export const sessions = auth.table('sessions', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull(),
  secretHash: text('secret_hash').notNull(),
  createdAt: moment('created_at').notNull(),
  lastUsedAt: moment('last_used_at').notNull(),
  expiresAt: moment('expires_at').notNull(),
  endsAt: moment('ends_at').notNull(),
  endedAt: moment('ended_at'),
})
