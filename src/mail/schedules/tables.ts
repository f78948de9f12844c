/** Drizzle definition of recurring email schedules. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export interface Recipient {
  email: string;
  name: string | null;
}

/** What to do about runs that a longer downtime made later than the grace allows. */
export type MissedRuns = 'skip' | 'run_once';

/** How the last run stands: waiting for its job, ended one way or the other, or left out after a downtime. */
export type LastStatus = 'queued' | 'completed' | 'failed' | 'skipped';

export const emailSchedules = sqliteTable('email_schedules', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  api_key_id: integer(),
  is_test: integer({ mode: 'boolean' }).notNull(),
  name: text().notNull(),
  recipients: text({ mode: 'json' }).$type<Recipient[]>().notNull(),
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
  missed_runs: text().$type<MissedRuns>().notNull(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  next_run_at: integer(),
  last_run_at: integer(),
  last_status: text().$type<LastStatus>(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type ScheduleRow = typeof emailSchedules.$inferSelect;
