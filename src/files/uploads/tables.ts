/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const uploads = sqliteTable('uploads', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  key_id: integer().notNull(),
  metadata: text().notNull(),
  size_bytes: integer().notNull(),
  offset_bytes: integer().notNull(),
  object_id: text(),
  expires_at: integer().notNull(),
  created_at: integer().notNull(),
});
export type UploadRow = typeof uploads.$inferSelect;
