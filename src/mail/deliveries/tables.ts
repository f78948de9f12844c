/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const ATTEMPT_OUTCOMES = [
  'sent',
  'captured',
  'refused',
  'deferred',
  'unreachable',
  'unanswered',
  'postponed',
  'interrupted',
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];
export const REPORT_KINDS = [
  'delivered',
  'bounced',
  'soft_bounced',
  'refused',
  'complained',
  'unsubscribed',
] as const;
export type ReportKind = (typeof REPORT_KINDS)[number];

export const emailAttempts = sqliteTable('email_attempts', {
  id: integer().primaryKey({ autoIncrement: true }),
  email_id: text().notNull(),
  attempt: integer().notNull(),
  mailbox: text().notNull(),
  choice: text().notNull(),
  started_at: integer().notNull(),
  finished_at: integer(),
  outcome: text().$type<AttemptOutcome>(),
  smtp_code: integer(),
  smtp_response: text(),
  tls: text(),
  may_be_sent: integer({ mode: 'boolean' }).notNull(),
});
export type AttemptRow = typeof emailAttempts.$inferSelect;

export const capturedMessages = sqliteTable('captured_messages', {
  id: integer().primaryKey({ autoIncrement: true }),
  email_id: text().notNull(),
  mailbox: text().notNull(),
  envelope: text({ mode: 'json' }).$type<{ from: string; to: string[] }>().notNull(),
  raw: blob({ mode: 'buffer' }).notNull(),
  captured_at: integer().notNull(),
});

export const emailReports = sqliteTable('email_reports', {
  id: integer().primaryKey({ autoIncrement: true }),
  email_id: text().notNull(),
  kind: text().$type<ReportKind>().notNull(),
  address: text().notNull(),
  smtp_code: integer(),
  words: text().notNull(),
  reported_at: integer().notNull(),
  mailbox: text().notNull(),
});
export type ReportRow = typeof emailReports.$inferSelect;
