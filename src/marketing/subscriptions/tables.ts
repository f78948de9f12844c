/** Drizzle definition of double opt-ins that wait for a click. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const contactConfirmations = sqliteTable('contact_confirmations', {
  token_hash: text().primaryKey(),
  contact_id: integer().notNull(),
  expires_at: integer().notNull(),
  is_test: integer({ mode: 'boolean' }).notNull().default(false),
  created_at: integer().notNull(),
});
