/** Stored objects; the bytes are blobs named by public_id. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export type Visibility = 'public' | 'private';

export const objects = sqliteTable('objects', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  original_filename: text().notNull(),
  mime_type: text().notNull(),
  size_bytes: integer().notNull(),
  sha256: text().notNull(),
  visibility: text().$type<Visibility>().notNull(),
  expires_at: integer(),
  created_at: integer().notNull(),
});

export type ObjectRow = typeof objects.$inferSelect;
export type NewObject = Omit<ObjectRow, 'id'>;

/** What the signed links of a project's files are made with. */
export const objectLinkKeys = sqliteTable('object_link_keys', {
  project_id: integer().primaryKey(),
  sealed_key: text().notNull(),
  created_at: integer().notNull(),
});
