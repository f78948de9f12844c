/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const MAILBOX_KINDS = ['smtp', 'capture'] as const;
export type MailboxKind = (typeof MAILBOX_KINDS)[number];

export const mailboxes = sqliteTable('mailboxes', {
  id: integer().primaryKey({ autoIncrement: true }),
  domain_id: integer().notNull(),
  address: text().notNull(),
  kind: text().$type<MailboxKind>().notNull(),
  smtp_host: text(),
  smtp_port: integer(),
  smtp_security: text().$type<'tls' | 'starttls' | 'opportunistic' | 'none'>(),
  smtp_username: text(),
  sealed_smtp_password: text(),
  return_path: text(),
  daily_limit: integer(),
  for_transactional: integer({ mode: 'boolean' }).notNull(),
  for_marketing: integer({ mode: 'boolean' }).notNull(),
  status: text().$type<'active' | 'paused'>().notNull(),
  failures: integer().notNull(),
  resting_until: integer(),
  last_error: text(),
  last_failure_at: integer(),
  last_success_at: integer(),
  revision: integer().notNull(),
  created_at: integer().notNull(),
  is_signed_by_relay: integer({ mode: 'boolean' }).notNull(),
  refusal: text(),
  refused_at: integer(),
  verp: integer({ mode: 'boolean' }),
  verp_refusal: text(),
  rate: text(),
});
export type MailboxRow = typeof mailboxes.$inferSelect;

export const mailboxUsage = sqliteTable('mailbox_usage', {
  mailbox_id: integer().notNull(),
  day: text().notNull(),
  n: integer().notNull(),
});

export const mailboxPaces = sqliteTable('mailbox_paces', {
  mailbox_id: integer().primaryKey(),
  turn_at: real().notNull(),
  sent: text({ mode: 'json' }).$type<[slice: number, count: number][]>().notNull(),
  allowed: real(),
  speed: real(),
  speed_at: integer().notNull(),
  waits: integer().notNull(),
  waits_until: integer().notNull(),
  is_probing: integer({ mode: 'boolean' }).notNull(),
  probed_at: real().notNull(),
  ended_at: integer().notNull(),
  since: integer(),
  refused_at: integer(),
  words: text(),
});
export type PaceRow = typeof mailboxPaces.$inferSelect;
