/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Departed } from './schemas.ts';

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
  own_kind: text().$type<SuppressionKind>(),
  own_also_kind: text().$type<SuppressionKind>(),
});
export type SuppressionRow = typeof suppressions.$inferSelect;

export const suppressionImports = sqliteTable('suppression_imports', {
  import_id: text().notNull(),
  suppression_id: text().notNull(),
  kind: text().$type<SuppressionKind>().notNull(),
  departures: text({ mode: 'json' }).$type<Departed[]>().notNull(),
});
