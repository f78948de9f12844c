/** Drizzle definition of saved templates. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** A declared placeholder, as it is stored. */
export interface TemplateVariable {
  name: string;
  description: string | null;
  required: boolean;
}

export const emailTemplates = sqliteTable('email_templates', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  project_id: integer().notNull(),
  slug: text().notNull(),
  name: text().notNull(),
  category: text().notNull(),
  subject: text().notNull(),
  body_html: text(),
  body_text: text(),
  /** What both bodies were made from, where they were. */
  body_markdown: text(),
  description: text(),
  variables: text({ mode: 'json' }).$type<TemplateVariable[]>().notNull(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  is_marketing: integer({ mode: 'boolean' }).notNull(),
  layout: text(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type TemplateRow = typeof emailTemplates.$inferSelect;
