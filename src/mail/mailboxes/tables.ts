/** Drizzle definitions of mailboxes, and how many messages each took a day. */
import { integer, primaryKey, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export type MailboxKind = 'smtp' | 'capture';

export const mailboxes = sqliteTable('mailboxes', {
  id: integer().primaryKey({ autoIncrement: true }),
  domain_id: integer().notNull(),
  address: text().notNull(),
  kind: text().$type<MailboxKind>().notNull(),
  smtp_host: text(),
  smtp_port: integer(),
  /** See SmtpSecurity of platform/mail/types.ts. */
  smtp_security: text().$type<'tls' | 'starttls' | 'opportunistic' | 'none'>(),
  smtp_username: text(),
  sealed_smtp_password: text(),
  is_signed_by_relay: integer({ mode: 'boolean' }).notNull(),
  return_path: text(),
  /** Null: where the mailbox has an inbox. */
  verp: integer({ mode: 'boolean' }),
  verp_refusal: text(),
  daily_limit: integer(),
  /** As it is written: 14/s, 200/m, 1000/h. */
  rate: text(),
  for_transactional: integer({ mode: 'boolean' }).notNull(),
  for_marketing: integer({ mode: 'boolean' }).notNull(),
  status: text().$type<'active' | 'paused'>().notNull(),
  failures: integer().notNull(),
  resting_until: integer(),
  last_error: text(),
  last_failure_at: integer(),
  last_success_at: integer(),
  refusal: text(),
  refused_at: integer(),
  revision: integer().notNull(),
  created_at: integer().notNull(),
});
export type MailboxRow = typeof mailboxes.$inferSelect;

export const mailboxUsage = sqliteTable(
  'mailbox_usage',
  {
    mailbox_id: integer().notNull(),
    day: text().notNull(),
    n: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.mailbox_id] })],
);

/** The state of a mailbox's pace: what was sent by its rate, and what its relay has taught; see `pace.ts` and `learning.ts`. */
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
export type Pace = Omit<PaceRow, 'mailbox_id'>;
