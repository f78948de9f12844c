/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const sendingDomains = sqliteTable('sending_domains', {
  id: integer().primaryKey({ autoIncrement: true }),
  name: text().notNull(),
  is_default: integer({ mode: 'boolean' }).notNull(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  is_trusted: integer({ mode: 'boolean' }).notNull(),
  verified_at: integer(),
  ownership_token: text().notNull(),
  dkim_selector: text().notNull(),
  dkim_public_key: text().notNull(),
  sealed_dkim_private_key: text().notNull(),
  created_at: integer().notNull(),
  next_dkim_selector: text(),
  next_dkim_public_key: text(),
  next_sealed_dkim_private_key: text(),
  old_dkim_selector: text(),
  dkim_rotated_at: integer(),
  old_dkim_public_key: text(),
  has_been_default: integer({ mode: 'boolean' }).notNull(),
});
export type DomainRow = typeof sendingDomains.$inferSelect;
