/** Drizzle definitions: accounts and databases at providers, and whom they serve. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const AI_PROVIDERS = [
  'openai',
  'anthropic',
  'gemini',
  'openrouter',
  'bedrock',
  'vertex-ai',
  'ollama',
  'custom',
] as const;

/** What every record at a provider has. */
const record = () => ({
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  name: text().notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});

export const aiAccounts = sqliteTable('ai_accounts', {
  ...record(),
  provider: text().$type<(typeof AI_PROVIDERS)[number]>().notNull(),
  key_prefix: text(),
  sealed_api_key: text(),
  base_url: text(),
  organization_id: text(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  all_projects: integer({ mode: 'boolean' }).notNull(),
});
export type AiAccountRow = typeof aiAccounts.$inferSelect;

export const aiAccountProjects = sqliteTable(
  'ai_account_projects',
  {
    ai_account_id: integer().notNull(),
    project_id: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.ai_account_id, table.project_id] })],
);

export const databaseAccounts = sqliteTable('database_accounts', {
  ...record(),
  provider: text(),
  organization_slug: text(),
  token_prefix: text().notNull(),
  sealed_access_token: text().notNull(),
  expires_at: integer(),
});
export type DatabaseAccountRow = typeof databaseAccounts.$inferSelect;

export const databaseProjects = sqliteTable('database_projects', {
  ...record(),
  account_id: integer(),
  ref: text().notNull(),
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
