/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const contactConfirmations = sqliteTable('contact_confirmations', {
  token_hash: text().primaryKey(),
  contact_id: integer().notNull(),
  expires_at: integer().notNull(),
  is_test: integer({ mode: 'boolean' }).notNull(),
  tracking_at: integer(),
  tracking_ip: text(),
  tracking_origin: text(),
  created_at: integer().notNull(),
});
