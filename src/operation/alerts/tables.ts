/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { KnownFindings, Ways } from './schemas.ts';

export const ALERT_FORMATS = ['json', 'slack', 'discord', 'ntfy', 'gotify'] as const;
export type AlertFormat = (typeof ALERT_FORMATS)[number];

export const alerts = sqliteTable('alerts', {
  id: integer().primaryKey(),
  email: text({ mode: 'json' }).$type<string[]>().notNull(),
  sealed_url: text(),
  url: text(),
  format: text().$type<AlertFormat>(),
  backups_here: integer({ mode: 'boolean' }).notNull(),
  last_sent_at: integer(),
  findings: text({ mode: 'json' }).$type<KnownFindings>().notNull(),
  ways: text({ mode: 'json' }).$type<Ways>().notNull(),
});
export type AlertsRow = typeof alerts.$inferSelect;
