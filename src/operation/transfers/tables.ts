/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const WITHHELD_KINDS = ['project', 'schedule'] as const;
export type WithheldKind = (typeof WITHHELD_KINDS)[number];

export const withheld = sqliteTable('withheld', {
  project_id: integer().notNull(),
  kind: text().$type<WithheldKind>().notNull(),
  id: text().notNull(),
});
