/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const TRACKINGS = ['allowed', 'refused'] as const;
export type Tracking = (typeof TRACKINGS)[number];
export const TELLERS = ['page', 'form', 'import', 'api'] as const;
export type Teller = (typeof TELLERS)[number];

export const trackingChoices = sqliteTable('tracking_choices', {
  project_id: integer().notNull(),
  email: text().notNull(),
  tracking: text().$type<Tracking>().notNull(),
  at: integer().notNull(),
  told_by: text().$type<Teller>().notNull(),
  ip: text(),
  origin: text(),
});
export type TrackingChoiceRow = typeof trackingChoices.$inferSelect;
