/** Stored objects; the bytes are named by public_id. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

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
  store: text().$type<'local' | 's3'>().notNull(),
  missing_since: integer(),
  expires_at: integer(),
  created_at: integer().notNull(),
});

export type ObjectRow = typeof objects.$inferSelect;
export type NewObject = Omit<ObjectRow, 'id' | 'missing_since'>;

/** Keys of the store whose bytes are to go; filled by a trigger. */
export const storeRemovals = sqliteTable('store_removals', { public_id: text().primaryKey() });

/** What came in, by day since 1970; counted by a trigger. */
export const uploadDays = sqliteTable(
  'upload_days',
  {
    project_id: integer().notNull(),
    day: integer().notNull(),
    uploads: integer().notNull(),
    bytes: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.day] })],
);

/** What the signed links of a project's files are made with. */
export const objectLinkKeys = sqliteTable('object_link_keys', {
  project_id: integer().primaryKey(),
  sealed_key: text().notNull(),
  created_at: integer().notNull(),
});
