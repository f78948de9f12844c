/** Drizzle definition of the backups that a server was asked for. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const backupRuns = sqliteTable('backup_runs', {
  id: text().primaryKey(),
  name: text().notNull(),
  status: text().$type<'processing' | 'completed' | 'failed'>().notNull(),
  error: text(),
  result: text({ mode: 'json' }).$type<Record<string, unknown>>(),
  created_at: integer().notNull(),
  finished_at: integer(),
});
export type RunRow = typeof backupRuns.$inferSelect;
