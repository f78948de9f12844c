/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const TRACKING_MODES = ['all', 'consented'] as const;
export type TrackingMode = (typeof TRACKING_MODES)[number];

export const marketingSettings = sqliteTable('marketing_settings', {
  project_id: integer().primaryKey(),
  enabled: integer({ mode: 'boolean' }).notNull(),
  from_name: text(),
  reply_to: text(),
  postal_address: text(),
  brand_name: text(),
  brand_color: text(),
  brand_logo_url: text(),
  brand_website_url: text(),
  daily_cap: integer(),
  send_window_start: text(),
  send_window_end: text(),
  timezone: text().notNull(),
  bounce_pause_threshold_percent: real().notNull(),
  tracking: text().$type<TrackingMode>().notNull(),
  view_link: integer({ mode: 'boolean' }).notNull(),
  accounts: text({ mode: 'json' }).$type<string[]>().notNull(),
  updated_at: integer().notNull(),
});
export type SettingsRow = typeof marketingSettings.$inferSelect;

export const marketingKeys = sqliteTable('marketing_keys', {
  project_id: integer().primaryKey(),
  sealed_key: text().notNull(),
  created_at: integer().notNull(),
});

export const marketingUsage = sqliteTable('marketing_usage', {
  project_id: integer().notNull(),
  day: text().notNull(),
  n: integer().notNull(),
});
