/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const VISIBILITIES = ['public', 'private', 'internal'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

export const objects = sqliteTable('objects', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  original_filename: text().notNull(),
  sought_name: text().notNull(),
  mime_type: text().notNull(),
  size_bytes: integer().notNull(),
  sha256: text().notNull(),
  visibility: text().$type<Visibility>().notNull(),
  store: text().$type<'local' | 'database' | 's3'>().notNull(),
  is_utf8: integer({ mode: 'boolean' }).notNull(),
  missing_since: integer(),
  expires_at: integer(),
  created_at: integer().notNull(),
});
export type ObjectRow = typeof objects.$inferSelect;

export const objectContents = sqliteTable('object_contents', {
  object_id: integer().primaryKey(),
  bytes: blob({ mode: 'buffer' }).notNull(),
});

export const pinnedContents = sqliteTable('pinned_contents', {
  public_id: text().notNull(),
  bytes: blob({ mode: 'buffer' }).notNull(),
});

export const storeRemovals = sqliteTable('store_removals', {
  public_id: text().primaryKey(),
});

export const uploadDays = sqliteTable('upload_days', {
  project_id: integer().notNull(),
  day: integer().notNull(),
  uploads: integer().notNull(),
  bytes: integer().notNull(),
});

export const objectLinkKeys = sqliteTable('object_link_keys', {
  project_id: integer().primaryKey(),
  sealed_key: text().notNull(),
  created_at: integer().notNull(),
});
