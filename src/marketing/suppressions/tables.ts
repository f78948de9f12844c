/** Drizzle definition of suppressions: keyed hashes of addresses that get no marketing mail. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/**
 * Weakest first: a stronger reason takes the place of a weaker one, never the other way round. What somebody decided outlasts a
 * bounce, which may be false and lifted with many others.
 */
export const SUPPRESSION_KINDS = ['hard_bounce', 'manual', 'unsubscribed', 'complaint'] as const;
export type SuppressionKind = (typeof SUPPRESSION_KINDS)[number];

export const suppressions = sqliteTable('suppressions', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  hash: text().notNull(),
  kind: text().$type<SuppressionKind>().notNull(),
  created_at: integer().notNull(),
  /** Whose mail came back, of a hard bounce; null where that is not known. */
  mailbox: text(),
});
export type SuppressionRow = typeof suppressions.$inferSelect;
