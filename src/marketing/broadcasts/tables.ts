/** Drizzle definitions of broadcasts, of who had their turn, and of the numbers of a broadcast. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const BROADCAST_STATUSES = ['draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled'] as const;
export type BroadcastStatus = (typeof BROADCAST_STATUSES)[number];

export const PAUSE_REASONS = [
  'manual',
  'moved',
  'late',
  'not_ready',
  'bounce_threshold',
  'relay_refuses',
] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

/** Why somebody on the list gets no mail; `no_value`: a merge field of the mail has no value for them. */
export const LEFT_OUT_REASONS = [
  'unsubscribed',
  'suppressed',
  'bounced',
  'complained',
  'pending',
  'filter',
  'no_value',
] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

export const broadcasts = sqliteTable('broadcasts', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  list_id: integer().notNull(),
  name: text().notNull(),
  template: text(),
  variables: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
  preheader: text(),
  filter: text({ mode: 'json' }).$type<Record<string, unknown>>(),
  track_opens: integer({ mode: 'boolean' }).notNull(),
  status: text().$type<BroadcastStatus>().notNull(),
  pause_reason: text().$type<PauseReason>(),
  is_test: integer({ mode: 'boolean' }).notNull(),
  send_at: integer(),
  started_at: integer(),
  finished_at: integer(),
  recipients: integer(),
  last_contact_id: integer(),
  source_id: integer(),
  from_name: text(),
  reply_to: text(),
  decided_to: integer().notNull().default(0),
  job_id: text(),
  bounces_since: integer(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type BroadcastRow = typeof broadcasts.$inferSelect;

export const broadcastRecipients = sqliteTable(
  'broadcast_recipients',
  {
    broadcast_id: integer().notNull(),
    contact_id: integer().notNull(),
    /** Null for one who was left out, and once the log has forgotten the mail. */
    email_id: text(),
    reason: text().$type<LeftOutReason>(),
    /** For its relay; a trigger on the emails writes this and the two moments. */
    is_waiting: integer({ mode: 'boolean' }).notNull().default(false),
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
  },
  (table) => [primaryKey({ columns: [table.broadcast_id, table.contact_id] })],
);
export type RecipientRow = typeof broadcastRecipients.$inferSelect;

export const broadcastCounts = sqliteTable(
  'broadcast_counts',
  {
    broadcast_id: integer().notNull(),
    what: text().notNull(),
    n: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.broadcast_id, table.what] })],
);

export const broadcastHours = sqliteTable(
  'broadcast_hours',
  {
    broadcast_id: integer().notNull(),
    /** Since 1970. */
    hour: integer().notNull(),
    what: text().$type<'sent' | 'clicked' | 'opened' | 'opened_by_machine'>().notNull(),
    n: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.broadcast_id, table.hour, table.what] })],
);

export const broadcastLinks = sqliteTable(
  'broadcast_links',
  {
    broadcast_id: integer().notNull(),
    position: integer().notNull(),
    people: integer().notNull(),
    clicks: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.broadcast_id, table.position] })],
);
