/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AnswerRecord, EventType } from './schemas.ts';

export const DISABLED_REASONS = ['gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];
export const DELIVERY_STATUSES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const webhooks = sqliteTable('webhooks', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  url: text().notNull(),
  description: text(),
  types: text({ mode: 'json' }).$type<EventType[]>(),
  sealed_secret: text().notNull(),
  sealed_old_secret: text(),
  old_secret_until: integer(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  disabled_reason: text().$type<DisabledReason>(),
  failing_since: integer(),
  after_event: integer().notNull(),
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
  status: text().$type<DeliveryStatus>().notNull(),
  attempts: integer().notNull(),
  next_at: integer(),
  response_status: integer(),
  error: text(),
  created_at: integer().notNull(),
});
export type DeliveryRow = typeof webhookDeliveries.$inferSelect;

export const webhookTries = sqliteTable('webhook_tries', {
  delivery_id: text().primaryKey(),
  webhook_id: integer().notNull(),
  at: integer().notNull(),
  ms: integer().notNull(),
  url: text().notNull(),
  headers: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
  answer: text({ mode: 'json' }).$type<AnswerRecord>(),
  is_inside: integer({ mode: 'boolean' }).notNull(),
});
export type TryRow = typeof webhookTries.$inferSelect;
