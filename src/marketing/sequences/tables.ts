/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const SEQUENCE_STATUSES = ['draft', 'active', 'paused', 'finished'] as const;
export type SequenceStatus = (typeof SEQUENCE_STATUSES)[number];
export const PAUSE_REASONS = ['manual', 'moved', 'restored', 'bounce_threshold', 'relay_refuses'] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];
export const ENROLLMENT_STATES = ['active', 'completed', 'exited', 'failed'] as const;
export type EnrollmentState = (typeof ENROLLMENT_STATES)[number];
export const EXIT_REASONS = [
  'event',
  'condition',
  'unsubscribed',
  'suppressed',
  'bounced',
  'complained',
  'sequence_finished',
  'manual',
] as const;
export type ExitReason = (typeof EXIT_REASONS)[number];

export const sequences = sqliteTable('sequences', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  list_id: integer().notNull(),
  name: text().notNull(),
  status: text().$type<SequenceStatus>().notNull(),
  max_recipients: integer().notNull(),
  exit_events: text({ mode: 'json' }).$type<string[]>().notNull(),
  enroll_tags: text({ mode: 'json' }).$type<string[]>().notNull(),
  auto_enroll_new_contacts: integer({ mode: 'boolean' }).notNull(),
  track_opens: integer({ mode: 'boolean' }).notNull(),
  utm: text({ mode: 'json' }).$type<Record<string, string>>(),
  steps: text({ mode: 'json' }).$type<unknown[]>().notNull(),
  job_id: text(),
  bounces_since: integer(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
  pause_reason: text().$type<PauseReason>(),
});
export type SequenceRow = typeof sequences.$inferSelect;

export const contactEvents = sqliteTable('contact_events', {
  contact_id: integer().notNull(),
  event: text().notNull(),
  occurred_at: integer().notNull(),
  meta: text({ mode: 'json' }).$type<Record<string, unknown>>(),
  created_at: integer().notNull(),
  is_whole_second: integer({ mode: 'boolean' }).notNull(),
});

export const enrollments = sqliteTable('enrollments', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  sequence_id: integer().notNull(),
  contact_id: integer().notNull(),
  is_test: integer({ mode: 'boolean' }).notNull(),
  state: text().$type<EnrollmentState>().notNull(),
  exit_reason: text().$type<ExitReason>(),
  error: text(),
  track: text().notNull(),
  step: text().notNull(),
  counts_from: integer().notNull(),
  next_at: integer(),
  waits_for: text(),
  last_email_id: text(),
  enrolled_at: integer().notNull(),
  ended_at: integer(),
});
export type EnrollmentRow = typeof enrollments.$inferSelect;

export const sequenceMails = sqliteTable('sequence_mails', {
  email_id: text().primaryKey(),
  sequence_id: integer().notNull(),
  enrollment_id: integer().notNull(),
  step: text().notNull(),
  sent_at: integer(),
  clicked_at: integer(),
  opened_at: integer(),
  opened_by_machine_at: integer(),
  bounced_at: integer(),
  unsubscribed_at: integer(),
  complained_at: integer(),
  replied_at: integer(),
  is_waiting: integer({ mode: 'boolean' }).notNull(),
  ended_at: integer(),
  refused_at: integer(),
  is_test: integer({ mode: 'boolean' }).notNull(),
  is_untracked: integer({ mode: 'boolean' }).notNull(),
});
export type SequenceMailRow = typeof sequenceMails.$inferSelect;

export const sequenceCounts = sqliteTable('sequence_counts', {
  sequence_id: integer().notNull(),
  step: text().notNull(),
  track: text().notNull(),
  what: text().notNull(),
  n: integer().notNull(),
});
