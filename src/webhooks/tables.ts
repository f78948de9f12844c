/** Drizzle definitions of webhooks, of what happened, and of what is delivered of it. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** What a webhook can be told of. */
export const EVENT_TYPES = [
  'object.created',
  'object.deleted',
  'email.sent',
  'email.failed',
  'email.bounced',
  'email.complained',
  'contact.subscribed',
  'contact.confirmed',
  'contact.unsubscribed',
  'contact.clicked',
  'import.completed',
  'broadcast.sent',
  'sequence.completed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
export const DELIVERY_STATUSES = ['waiting', 'delivered', 'failed'] as const;

/** Why a webhook was switched off by itself: its receiver said that it is gone, or every try of three days failed. */
export const DISABLED_REASONS = ['gone', 'failing'] as const;

export const webhooks = sqliteTable('webhooks', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  url: text().notNull(),
  description: text(),
  /** Null is all. */
  types: text({ mode: 'json' }).$type<EventType[]>(),
  sealed_secret: text().notNull(),
  sealed_old_secret: text(),
  old_secret_until: integer(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  disabled_reason: text().$type<(typeof DISABLED_REASONS)[number]>(),
  failing_since: integer(),
  after_event: integer().notNull(),
  /** How many it has, kept by triggers. */
  deliveries: integer().notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type WebhookRow = typeof webhooks.$inferSelect;

export const webhookEvents = sqliteTable('webhook_events', {
  id: integer().primaryKey({ autoIncrement: true }),
  project_id: integer().notNull(),
  type: text().notNull(),
  body: text().notNull(),
  address: text(),
  is_fanned_out: integer({ mode: 'boolean' }).notNull(),
  created_at: integer().notNull(),
});
export type EventRow = typeof webhookEvents.$inferSelect;

export const webhookDeliveries = sqliteTable('webhook_deliveries', {
  id: text().primaryKey(),
  webhook_id: integer().notNull(),
  event_id: integer().notNull(),
  type: text().notNull(),
  status: text().$type<(typeof DELIVERY_STATUSES)[number]>().notNull(),
  attempts: integer().notNull(),
  next_at: integer(),
  response_status: integer(),
  error: text(),
  created_at: integer().notNull(),
});
export type DeliveryRow = typeof webhookDeliveries.$inferSelect;
