/** Drizzle definitions: API keys. What each sent in a day is counted in mail/emails. What each sent in a day is counted in mail/emails. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

const flag = () => integer({ mode: 'boolean' }).notNull();

export const apiKeys = sqliteTable('api_keys', {
  id: integer().primaryKey({ autoIncrement: true }),
  project_id: integer().notNull(),
  name: text().notNull(),
  key_prefix: text().notNull(),
  key_hash: text().notNull(),
  sealed_key: text(),
  can_read: flag(),
  can_write: flag(),
  can_send_emails: flag(),
  can_manage_email_marketing: flag(),
  restricted: flag(),
  allow_no_origin: flag(),
  email_daily_limit: integer(),
  rate_limit_per_minute: integer(),
  permissions: text({ mode: 'json' }).$type<Record<string, boolean>>().notNull(),
  is_test: flag(),
  is_active: flag(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
  /** Noted at most once a minute. */
  last_used_at: integer(),
});
export type KeyRow = typeof apiKeys.$inferSelect;
