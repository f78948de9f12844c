/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const segments = sqliteTable('segments', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  list_id: integer().notNull(),
  name: text().notNull(),
  filter: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type SegmentRow = typeof segments.$inferSelect;
