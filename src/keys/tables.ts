/** Drizzle definitions: API keys, the origins they accept, and the origins that every restricted key accepts. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

type OriginType = 'domain' | 'android' | 'ios';

const flag = () => integer({ mode: 'boolean' }).notNull();
const fingerprints = () => text({ mode: 'json' }).$type<string[]>().notNull();
const originType = () => text().$type<OriginType>().notNull();

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
});
export type KeyRow = typeof apiKeys.$inferSelect;

export const keyOrigins = sqliteTable('key_origins', {
  id: integer().primaryKey({ autoIncrement: true }),
  api_key_id: integer().notNull(),
  type: originType(),
  value: text().notNull(),
  sha256_fingerprints: fingerprints(),
  sha1_fingerprints: fingerprints(),
  created_at: integer().notNull(),
});
export type OriginRow = typeof keyOrigins.$inferSelect;

export const globalOrigins = sqliteTable('global_origins', {
  id: integer().primaryKey({ autoIncrement: true }),
  type: originType(),
  value: text().notNull(),
  sha256_fingerprints: fingerprints(),
  sha1_fingerprints: fingerprints(),
  note: text(),
  is_active: flag(),
  created_at: integer().notNull(),
});
export type GlobalOriginRow = typeof globalOrigins.$inferSelect;
