/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { RefusedRecord, StoredAttachment } from './schemas.ts';

export const EMAIL_SOURCES = [
  'api',
  'schedule',
  'sequence',
  'broadcast',
  'confirmation',
  'test',
  'smtp',
  'resend',
  'mailgun',
  'mailgun_bulk',
] as const;
export type EmailSource = (typeof EMAIL_SOURCES)[number];
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

export const keyUsage = sqliteTable('key_usage', {
  api_key_id: integer().notNull(),
  day: text().notNull(),
  n: integer().notNull(),
});

export const emails = sqliteTable('emails', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  job_id: text(),
  api_key_id: integer(),
  source: text().$type<EmailSource>().notNull(),
  is_test: integer({ mode: 'boolean' }).notNull(),
  status: text().$type<EmailStatus>().notNull(),
  requested_domain: text(),
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
  attachments: text({ mode: 'json' }).$type<StoredAttachment[]>().notNull(),
  headers: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
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
  replied_at: integer(),
  allowed_mailboxes: text({ mode: 'json' }).$type<string[]>().notNull(),
  merge: text(),
  due_at: integer(),
  began_at: integer(),
  choice: text(),
  tls: text(),
  is_captured: integer({ mode: 'boolean' }).notNull(),
  call_id: text(),
});
export type EmailRow = typeof emails.$inferSelect;

export const emailBodies = sqliteTable('email_bodies', {
  email_id: text().primaryKey(),
  body_html: text(),
  body_text: text(),
  message: text(),
});

export const attachmentPins = sqliteTable('attachment_pins', {
  email_id: text().notNull(),
  object_public_id: text().notNull(),
});

export const emailHours = sqliteTable('email_hours', {
  project_id: integer().notNull(),
  hour: integer().notNull(),
  what: text().$type<'sent' | 'bounced' | 'complained' | 'failed' | 'clicked'>().notNull(),
  n: integer().notNull(),
});
