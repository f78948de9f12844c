/** Drizzle definitions of sequences and of the product events of contacts. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const SEQUENCE_STATUSES = ['draft', 'active', 'paused', 'finished'] as const;
export type SequenceStatus = (typeof SEQUENCE_STATUSES)[number];

export const PAUSE_REASONS = ['manual', 'moved', 'bounce_threshold', 'relay_refuses'] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

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
  steps: text({ mode: 'json' }).$type<unknown[]>().notNull(),
  job_id: text(),
  bounces_since: integer(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
  pause_reason: text().$type<PauseReason>(),
});
export type SequenceRow = typeof sequences.$inferSelect;

export const contactEvents = sqliteTable(
  'contact_events',
  {
    contact_id: integer().notNull(),
    event: text().notNull(),
    occurred_at: integer().notNull(),
    meta: text({ mode: 'json' }).$type<Record<string, unknown>>(),
    created_at: integer().notNull(),
    /** Known to the second only: it may have been at any moment of that second. */
    is_whole_second: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.contact_id, table.event] })],
);

export const ENROLLMENT_STATES = ['active', 'completed', 'exited', 'failed'] as const;
export type EnrollmentState = (typeof ENROLLMENT_STATES)[number];
export type ExitReason =
  | 'event'
  | 'condition'
  | 'unsubscribed'
  | 'suppressed'
  | 'bounced'
  | 'complained'
  | 'sequence_finished'
  | 'manual';

export const enrollments = sqliteTable('enrollments', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  sequence_id: integer().notNull(),
  contact_id: integer().notNull(),
  /** Made by a test key: its mail is captured, and it stands in no counter. */
  is_test: integer({ mode: 'boolean' }).notNull().default(false),
  state: text().$type<EnrollmentState>().notNull(),
  exit_reason: text().$type<ExitReason>(),
  error: text(),
  track: text().notNull(),
  step: text().notNull(),
  counts_from: integer().notNull(),
  /** Null while it waits for its mail, and once it has ended. */
  next_at: integer(),
  /** The mail at whose end the next delay begins, or behind the last step it is complete. */
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
  is_test: integer({ mode: 'boolean' }).notNull().default(false),
  /** For its relay; a trigger on the emails writes this and the two moments. */
  is_waiting: integer({ mode: 'boolean' }).notNull().default(true),
  /** When a relay took it. */
  sent_at: integer(),
  /** When a relay took it or its attempts ended; null for one that was taken back. */
  ended_at: integer(),
  clicked_at: integer(),
  opened_at: integer(),
  opened_by_machine_at: integer(),
  bounced_at: integer(),
  complained_at: integer(),
  unsubscribed_at: integer(),
  /** By a relay, for what it holds against us; at SMTP time or in a report. */
  refused_at: integer(),
});
export type SequenceMailRow = typeof sequenceMails.$inferSelect;

export const sequenceCounts = sqliteTable(
  'sequence_counts',
  {
    sequence_id: integer().notNull(),
    step: text().notNull(),
    track: text().notNull(),
    what: text().notNull(),
    n: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.sequence_id, table.step, table.track, table.what] })],
);
