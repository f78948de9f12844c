/** Drizzle definitions: the origins that a key accepts, and those that every restricted key accepts. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

type OriginType = 'domain' | 'android' | 'ios';

const flag = () => integer({ mode: 'boolean' }).notNull();
const fingerprints = () => text({ mode: 'json' }).$type<string[]>().notNull();
const originType = () => text().$type<OriginType>().notNull();

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
