/** Resumable uploads; what came of them stands where the bytes of the object will. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const uploads = sqliteTable('uploads', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  key_id: integer().notNull(),
  /** As it was sent. */
  metadata: text().notNull(),
  size_bytes: integer().notNull(),
  /** Up to here the bytes are durable. */
  offset_bytes: integer().notNull(),
  /** What it has become; null while it is unfinished. */
  object_id: text(),
  expires_at: integer().notNull(),
  created_at: integer().notNull(),
});

export type UploadRow = typeof uploads.$inferSelect;
