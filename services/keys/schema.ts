import { pgSchema, text, timestamp } from 'drizzle-orm/pg-core'

const schema = pgSchema('keys')
const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })

export const keys = schema.table('key', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull(),
  accountId: text('account_id').notNull(),
  name: text('name').notNull(),
  last4: text('last4').notNull(),
  models: text('models').array(),
  createdAt: moment('created_at').notNull(),
  lastUsedAt: moment('last_used_at'),
  expiresAt: moment('expires_at'),
  revokedAt: moment('revoked_at'),
})

/** What opens a key: one secret, and after a roll its former ones until their grace ends. */
export const secrets = schema.table('secret', {
  hash: text('hash').primaryKey(),
  keyId: text('key_id').notNull(),
  endsAt: moment('ends_at'),
})
