/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const emailReplies = sqliteTable('email_replies', {
  id: integer().primaryKey({ autoIncrement: true }),
  project_id: integer().notNull(),
  email_id: text().notNull(),
  digest: text().notNull(),
  is_automatic: integer({ mode: 'boolean' }).notNull(),
  from_email: text().notNull(),
  subject: text().notNull(),
  text: text(),
  received_at: integer().notNull(),
});
export type ReplyRow = typeof emailReplies.$inferSelect;
