/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const SUPPRESSION_KINDS = ['hard_bounce', 'manual', 'unsubscribed', 'complaint'] as const;
export type SuppressionKind = (typeof SUPPRESSION_KINDS)[number];

export const suppressions = sqliteTable('suppressions', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  hash: text().notNull(),
  kind: text().$type<SuppressionKind>().notNull(),
  created_at: integer().notNull(),
  mailbox: text(),
  also_kind: text().$type<SuppressionKind>(),
});
export type SuppressionRow = typeof suppressions.$inferSelect;
