/** Drizzle definitions of the email log, of contents and attachments that are still needed, and of what each key sent. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const EMAIL_SOURCES = ['api', 'schedule', 'sequence', 'broadcast', 'confirmation', 'test'] as const;
export type EmailSource = (typeof EMAIL_SOURCES)[number];

/** Mail that waits without jobs of its own, goes out in pieces, and is tried for a period, as nobody waits for it. */
export const BULK_SOURCES = ['sequence', 'broadcast'] as const satisfies readonly EmailSource[];

export function isBulk(source: EmailSource): boolean {
  return BULK_SOURCES.some((bulk) => bulk === source);
}

export const EMAIL_STATUSES = [
  'scheduled',
  'queued',
  'sending',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'failed',
  'unknown',
  'canceled',
] as const;
export type EmailStatus = (typeof EMAIL_STATUSES)[number];

/** An attachment as it was at acceptance; its object may be gone by now. */
export interface AttachmentRecord {
  public_id: string;
  filename: string;
  mime_type: string;
  size_bytes: number;
}

/** A recipient that a relay would not take, with its words. */
export interface RefusedRecord {
  address: string;
  smtp_code: number | null;
  response: string;
  /** What a refusal for good is about; null for one that might have passed. */
  about: 'recipient' | 'full' | 'mailbox' | 'message' | null;
}

export const emails = sqliteTable('emails', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  job_id: text(),
  api_key_id: integer(),
  source: text().$type<EmailSource>().notNull(),
  is_test: integer({ mode: 'boolean' }).notNull(),
  status: text().$type<EmailStatus>().notNull(),
  requested_domain: text(),
  allowed_mailboxes: text({ mode: 'json' }).$type<string[]>().notNull(),
  mailbox_id: integer(),
  quota_day: text(),
  from_email: text().notNull(),
  from_name: text(),
  domain: text().notNull(),
  to_email: text().notNull(),
  to_name: text(),
  cc: text({ mode: 'json' }).$type<string[]>().notNull(),
  bcc: text({ mode: 'json' }).$type<string[]>().notNull(),
  reply_to: text(),
  subject: text().notNull(),
  template: text(),
  attachments: text({ mode: 'json' }).$type<AttachmentRecord[]>().notNull(),
  headers: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
  merge: text(),
  message_id: text().notNull(),
  taken: text({ mode: 'json' }).$type<string[]>().notNull(),
  refused: text({ mode: 'json' }).$type<RefusedRecord[]>().notNull(),
  attempts: integer().notNull(),
  smtp_code: integer(),
  smtp_response: text(),
  bounce_type: text().$type<'permanent' | 'transient'>(),
  error: text(),
  app_id: text(),
  ip: text(),
  user_agent: text(),
  created_at: integer().notNull(),
  scheduled_at: integer(),
  queued_at: integer(),
  sent_at: integer(),
  delivered_at: integer(),
  opened_at: integer(),
  clicked_at: integer(),
  bounced_at: integer(),
  complained_at: integer(),
  failed_at: integer(),
  due_at: integer(),
  began_at: integer(),
  tls: text(),
});
export type EmailRow = typeof emails.$inferSelect;

export const emailBodies = sqliteTable('email_bodies', {
  email_id: text().primaryKey(),
  body_html: text(),
  body_text: text(),
});

export const attachmentPins = sqliteTable(
  'attachment_pins',
  {
    email_id: text().notNull(),
    object_public_id: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.object_public_id, table.email_id] })],
);

export const keyUsage = sqliteTable(
  'key_usage',
  {
    api_key_id: integer().notNull(),
    day: text().notNull(),
    n: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.api_key_id, table.day] })],
);

export const emailHours = sqliteTable(
  'email_hours',
  {
    project_id: integer().notNull(),
    hour: integer().notNull(),
    what: text().$type<'sent' | 'bounced' | 'complained' | 'failed' | 'clicked'>().notNull(),
    n: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.hour, table.what] })],
);
