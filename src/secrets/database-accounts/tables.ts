/** Drizzle definitions: accounts and projects at database providers, and whose they are. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const databaseAccounts = sqliteTable('database_accounts', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  name: text().notNull(),
  provider: text(),
  organization_slug: text(),
  token_prefix: text().notNull(),
  sealed_access_token: text().notNull(),
  expires_at: integer(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type DatabaseAccountRow = typeof databaseAccounts.$inferSelect;

export const databaseProjects = sqliteTable('database_projects', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  account_id: integer(),
  ref: text().notNull(),
  name: text().notNull(),
  region: text(),
  status: text(),
  api_url: text(),
  publishable_key: text(),
  db_host: text(),
  db_port: integer(),
  db_name: text(),
  db_user: text(),
  pool_mode: text().$type<'transaction' | 'session'>(),
  sealed_secret_key: text(),
  sealed_db_password: text(),
  sealed_connection_string: text(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type DatabaseProjectRow = typeof databaseProjects.$inferSelect;

export const databaseProjectLinks = sqliteTable(
  'database_project_links',
  {
    database_project_id: integer().notNull(),
    project_id: integer().notNull(),
    is_shown: integer({ mode: 'boolean' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.database_project_id, table.project_id] })],
);
