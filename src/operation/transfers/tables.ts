/** Drizzle definition: what stopped as a project was exported (itself) or imported (its schedules), and is let go together. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const WITHHELD_KINDS = ['project', 'schedule'] as const;
export type WithheldKind = (typeof WITHHELD_KINDS)[number];

export const withheld = sqliteTable(
  'withheld',
  { project_id: integer().notNull(), kind: text().$type<WithheldKind>().notNull(), id: text().notNull() },
  (table) => [primaryKey({ columns: [table.project_id, table.kind, table.id] })],
);
