/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const keyOrigins = sqliteTable('key_origins', {
  id: integer().primaryKey({ autoIncrement: true }),
  api_key_id: integer().notNull(),
  type: text().$type<'domain' | 'android' | 'ios'>().notNull(),
  value: text().notNull(),
  sha256_fingerprints: text({ mode: 'json' }).$type<string[]>().notNull(),
  sha1_fingerprints: text({ mode: 'json' }).$type<string[]>().notNull(),
  created_at: integer().notNull(),
});
export type OriginRow = typeof keyOrigins.$inferSelect;

export const globalOrigins = sqliteTable('global_origins', {
  id: integer().primaryKey({ autoIncrement: true }),
  type: text().$type<'domain' | 'android' | 'ios'>().notNull(),
  value: text().notNull(),
  sha256_fingerprints: text({ mode: 'json' }).$type<string[]>().notNull(),
  sha1_fingerprints: text({ mode: 'json' }).$type<string[]>().notNull(),
  note: text(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  created_at: integer().notNull(),
});
export type GlobalOriginRow = typeof globalOrigins.$inferSelect;
