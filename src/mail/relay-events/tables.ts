/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const EVENT_PROVIDERS = [
  'ses',
  'sendgrid',
  'mailgun',
  'postmark',
  'brevo',
  'mailjet',
  'resend',
] as const;
export type EventProvider = (typeof EVENT_PROVIDERS)[number];

export const relayEvents = sqliteTable('relay_events', {
  mailbox_id: integer().primaryKey(),
  provider: text().$type<EventProvider>().notNull(),
  configuration_set: text(),
  sealed_key: text(),
  sealed_token: text().notNull(),
  token_hash: text().notNull(),
  topic: text(),
  confirmed: text(),
  last_event_at: integer(),
  refused_at: integer(),
  refusals: integer().notNull(),
  problem: text(),
  set_at: integer().notNull(),
});
export type EventsRow = typeof relayEvents.$inferSelect;
