/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { StoredAttachment } from './schemas.ts';

export const MAILGUN_EVENTS = [
  'accepted',
  'delivered',
  'failed',
  'opened',
  'complained',
  'unsubscribed',
] as const;
export type MailgunEvent = (typeof MAILGUN_EVENTS)[number];

export const bulkContents = sqliteTable('bulk_contents', {
  call_id: text().primaryKey(),
  project_id: integer().notNull(),
  body_html: text(),
  body_text: text(),
  has_picture: integer({ mode: 'boolean' }).notNull(),
  attachments: text({ mode: 'json' }).$type<StoredAttachment[]>().notNull(),
});
export type BulkContentRow = typeof bulkContents.$inferSelect;

export const mailgunEvents = sqliteTable('mailgun_events', {
  project_id: integer().notNull(),
  domain: text().notNull(),
  at: integer().notNull(),
  email_id: text().notNull(),
  event: text().$type<MailgunEvent>().notNull(),
  is_permanent: integer({ mode: 'boolean' }),
  reason: text(),
  code: integer(),
  words: text(),
});
export type MailgunEventRow = typeof mailgunEvents.$inferSelect;
