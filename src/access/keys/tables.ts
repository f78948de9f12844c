/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const apiKeys = sqliteTable('api_keys', {
  id: integer().primaryKey({ autoIncrement: true }),
  project_id: integer().notNull(),
  name: text().notNull(),
  key_prefix: text().notNull(),
  key_hash: text().notNull(),
  sealed_key: text(),
  can_read: integer({ mode: 'boolean' }).notNull(),
  can_write: integer({ mode: 'boolean' }).notNull(),
  can_send_emails: integer({ mode: 'boolean' }).notNull(),
  can_manage_email_marketing: integer({ mode: 'boolean' }).notNull(),
  restricted: integer({ mode: 'boolean' }).notNull(),
  allow_no_origin: integer({ mode: 'boolean' }).notNull(),
  email_daily_limit: integer(),
  rate_limit_per_minute: integer(),
  permissions: text({ mode: 'json' }).$type<Record<string, boolean>>().notNull(),
  is_test: integer({ mode: 'boolean' }).notNull(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
  last_used_at: integer(),
});
export type KeyRow = typeof apiKeys.$inferSelect;
