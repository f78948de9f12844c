/** Drizzle definition: projects. */
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
  /** Where mail goes out from that names no domain; null: the default domain, else the first of its own. */
  sending_domain: text(),
  /** Those that it may send from; null: all. */
  sending_domains: text({ mode: 'json' }).$type<string[]>(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type ProjectRow = typeof projects.$inferSelect;
