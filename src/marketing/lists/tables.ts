/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const CONSENT_BASES = [
  'consent',
  'double_opt_in',
  'contract',
  'legitimate_interest',
  'existing_customer',
] as const;
export type ConsentBasis = (typeof CONSENT_BASES)[number];
export const LANGUAGES = ['en', 'de', 'fr', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

export const contactLists = sqliteTable('contact_lists', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  name: text().notNull(),
  description: text(),
  default_consent_basis: text().$type<ConsentBasis>(),
  double_opt_in: integer({ mode: 'boolean' }).notNull(),
  token_hosts: text({ mode: 'json' }).$type<string[]>().notNull(),
  confirmation_template: text(),
  from_address: text(),
  sign_up_page: integer({ mode: 'boolean' }).notNull(),
  is_public: integer({ mode: 'boolean' }).notNull(),
  archive: integer({ mode: 'boolean' }).notNull(),
  language: text().$type<Language>(),
  signed_up_url: text(),
  confirmed_url: text(),
  archived_at: integer(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type ListRow = typeof contactLists.$inferSelect;

export const contactCounts = sqliteTable('contact_counts', {
  list_id: integer().notNull(),
  tag: text().notNull(),
  status: text().notNull(),
  n: integer().notNull(),
});

export const contactFacets = sqliteTable('contact_facets', {
  list_id: integer().notNull(),
  kind: text().$type<'custom' | 'event'>().notNull(),
  name: text().notNull(),
  n: integer().notNull(),
});
