/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AbPlan } from './schemas.ts';

export const BROADCAST_STATUSES = [
  'draft',
  'scheduled',
  'sending',
  'testing',
  'paused',
  'sent',
  'cancelled',
] as const;
export type BroadcastStatus = (typeof BROADCAST_STATUSES)[number];
export const PAUSE_REASONS = [
  'manual',
  'moved',
  'restored',
  'late',
  'not_ready',
  'bounce_threshold',
  'relay_refuses',
] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];
export const LEFT_OUT_REASONS = [
  'unsubscribed',
  'suppressed',
  'bounced',
  'complained',
  'pending',
  'paused',
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
  segment_id: integer(),
  track_opens: integer({ mode: 'boolean' }).notNull(),
  utm: text({ mode: 'json' }).$type<Record<string, string>>(),
  ab: text({ mode: 'json' }).$type<AbPlan>(),
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
  decided_to: integer().notNull(),
  tested_at: integer(),
  decides_at: integer(),
  decided_at: integer(),
  winner: integer(),
  in_archive: integer({ mode: 'boolean' }),
  title: text(),
  summary: text(),
  job_id: text(),
  bounces_since: integer(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type BroadcastRow = typeof broadcasts.$inferSelect;

export const broadcastRecipients = sqliteTable('broadcast_recipients', {
  broadcast_id: integer().notNull(),
  contact_id: integer().notNull(),
  email_id: text(),
  reason: text().$type<LeftOutReason>(),
  variant: integer(),
  is_waiting: integer({ mode: 'boolean' }).notNull(),
  sent_at: integer(),
  ended_at: integer(),
  clicked_at: integer(),
  opened_at: integer(),
  opened_by_machine_at: integer(),
  bounced_at: integer(),
  complained_at: integer(),
  unsubscribed_at: integer(),
  replied_at: integer(),
  refused_at: integer(),
  is_untracked: integer({ mode: 'boolean' }).notNull(),
});
export type RecipientRow = typeof broadcastRecipients.$inferSelect;

export const broadcastVariants = sqliteTable('broadcast_variants', {
  broadcast_id: integer().notNull(),
  variant: integer().notNull(),
  source_id: integer().notNull(),
  sent: integer().notNull(),
  untracked: integer().notNull(),
  clicked: integer().notNull(),
  unsubscribed: integer().notNull(),
});
export type VariantRow = typeof broadcastVariants.$inferSelect;

export const broadcastCounts = sqliteTable('broadcast_counts', {
  broadcast_id: integer().notNull(),
  what: text().notNull(),
  n: integer().notNull(),
});

export const broadcastHours = sqliteTable('broadcast_hours', {
  broadcast_id: integer().notNull(),
  hour: integer().notNull(),
  what: text().$type<'sent' | 'clicked' | 'opened' | 'opened_by_machine'>().notNull(),
  n: integer().notNull(),
});

export const broadcastLinks = sqliteTable('broadcast_links', {
  broadcast_id: integer().notNull(),
  position: integer().notNull(),
  people: integer().notNull(),
  clicks: integer().notNull(),
});
