/** Drizzle definitions of every attempt at an email, of what was told of it from outside, and of what was captured. */
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/**
 * `captured` is a message that was kept instead of delivered, `unanswered` one that a relay got and said nothing of; `postponed` one
 * that waits for what is the server's own, such as room on its disk; `interrupted` one that a crash or a stop cut off.
 */
export type AttemptOutcome =
  | 'sent'
  | 'captured'
  | 'refused'
  | 'deferred'
  | 'unreachable'
  | 'unanswered'
  | 'postponed'
  | 'interrupted';

/** In place of a mailbox, for an attempt that found none. */
export const NO_MAILBOX = 'none';

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
  /** The TLS version, or `none`; null where there was no connection. */
  tls: text(),
  /** The relay may have taken the message, and never said so. */
  may_be_sent: integer({ mode: 'boolean' }).notNull().default(false),
});
export type AttemptRow = typeof emailAttempts.$inferSelect;

/** `bounced` is for good; `soft_bounced` may have been a passing trouble; `refused` is about us, not the recipient. */
export type ReportKind = 'delivered' | 'bounced' | 'soft_bounced' | 'refused' | 'complained';

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

export const capturedMessages = sqliteTable('captured_messages', {
  id: integer().primaryKey({ autoIncrement: true }),
  email_id: text().notNull(),
  mailbox: text().notNull(),
  envelope: text({ mode: 'json' }).$type<{ from: string; to: string[] }>().notNull(),
  raw: blob({ mode: 'buffer' }).notNull(),
  captured_at: integer().notNull(),
});
