/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Parties } from './schemas.ts';

export const APP_SOURCES = ['resend', 'mailgun'] as const;
export type AppSource = (typeof APP_SOURCES)[number];

export const appCalls = sqliteTable('app_calls', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  source: text().$type<AppSource>().notNull(),
  parties: text({ mode: 'json' }).$type<Parties>().notNull(),
  extra: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  created_at: integer().notNull(),
});
export type AppCallRow = typeof appCalls.$inferSelect;
