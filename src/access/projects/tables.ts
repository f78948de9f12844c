/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const projects = sqliteTable('projects', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  name: text().notNull(),
  slug: text().notNull(),
  status: text().$type<'active' | 'inactive'>().notNull(),
  notes: text(),
  description: text(),
  app_identifier: text(),
  primary_url: text(),
  repo_url: text(),
  repo_is_public: integer({ mode: 'boolean' }),
  platforms: text({ mode: 'json' }).$type<string[]>().notNull(),
  tech_stack: text({ mode: 'json' }).$type<string[]>().notNull(),
  sending_domain: text(),
  sending_domains: text({ mode: 'json' }).$type<string[]>(),
  link_domain: text(),
  link_domain_status: text().$type<'pending' | 'active' | 'failing'>(),
  link_domain_problem: text(),
  is_moved: integer({ mode: 'boolean' }).notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type ProjectRow = typeof projects.$inferSelect;
