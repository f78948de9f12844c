/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { CustomFields } from './schemas.ts';

export const CONTACT_STATUSES = ['pending', 'active', 'unsubscribed', 'bounced', 'complained'] as const;
export type ContactStatus = (typeof CONTACT_STATUSES)[number];

export const contacts = sqliteTable('contacts', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  list_id: integer().notNull(),
  email: text().notNull(),
  first_name: text(),
  last_name: text(),
  custom: text({ mode: 'json' }).$type<CustomFields>().notNull(),
  status: text().$type<ContactStatus>().notNull(),
  source: text(),
  reason: text(),
  contact_token: text().notNull(),
  consent_basis: text().notNull(),
  consent_at: integer().notNull(),
  consent_ip: text(),
  consent_origin: text(),
  source_platform: text().notNull(),
  confirmed_at: integer(),
  status_changed_at: integer().notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
  status_before_bounce: text().$type<'pending' | 'active'>(),
  status_before_leaving: text().$type<ContactStatus>(),
  is_mx_unasked: integer({ mode: 'boolean' }).notNull(),
  clicked_at: integer(),
  paused_until: integer(),
});
export type ContactRow = typeof contacts.$inferSelect;

export const contactTags = sqliteTable('contact_tags', {
  contact_id: integer().notNull(),
  tag: text().notNull(),
  list_id: integer().notNull(),
  status: text().$type<ContactStatus>().notNull(),
});

export const addressesToForget = sqliteTable('addresses_to_forget', {
  project_id: integer().notNull(),
  email: text().notNull(),
});
