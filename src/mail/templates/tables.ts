/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { TemplateDraft, TemplateVariable } from './schemas.ts';

export const TEMPLATE_CATEGORIES = [
  'transactional',
  'marketing',
  'welcome',
  'opt_in',
  'notification',
  'receipt',
  'other',
] as const;
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number];

export const emailTemplates = sqliteTable('email_templates', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  slug: text().notNull(),
  name: text().notNull(),
  category: text().$type<TemplateCategory>().notNull(),
  subject: text().notNull(),
  body_html: text(),
  body_text: text(),
  body_markdown: text(),
  description: text(),
  variables: text({ mode: 'json' }).$type<TemplateVariable[]>().notNull(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  is_marketing: integer({ mode: 'boolean' }).notNull(),
  layout: text().$type<'marketing'>(),
  is_own: integer({ mode: 'boolean' }).notNull(),
  draft: text({ mode: 'json' }).$type<TemplateDraft>(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type TemplateRow = typeof emailTemplates.$inferSelect;
