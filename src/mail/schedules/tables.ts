/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { ScheduleValues } from './schemas.ts';

export const LAST_STATUSES = ['queued', 'completed', 'failed', 'skipped'] as const;
export type LastStatus = (typeof LAST_STATUSES)[number];

export const emailSchedules = sqliteTable('email_schedules', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  api_key_id: integer(),
  is_test: integer({ mode: 'boolean' }).notNull(),
  name: text().notNull(),
  recipients: text({ mode: 'json' }).$type<ScheduleValues['recipients']>().notNull(),
  cron_expression: text().notNull(),
  timezone: text().notNull(),
  template: text(),
  variables: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  subject: text(),
  body_html: text(),
  body_text: text(),
  cc: text({ mode: 'json' }).$type<string[]>().notNull(),
  bcc: text({ mode: 'json' }).$type<string[]>().notNull(),
  reply_to: text(),
  from_name: text(),
  domain: text(),
  description: text(),
  missed_runs: text().$type<'skip' | 'run_once'>().notNull(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  next_run_at: integer(),
  last_run_at: integer(),
  last_status: text().$type<LastStatus>(),
  is_moved: integer({ mode: 'boolean' }).notNull(),
  is_held: integer({ mode: 'boolean' }).notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type ScheduleRow = typeof emailSchedules.$inferSelect;
