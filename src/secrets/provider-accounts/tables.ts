/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

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
export type AiProvider = (typeof AI_PROVIDERS)[number];

export const aiAccounts = sqliteTable('ai_accounts', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  name: text().notNull(),
  provider: text().$type<AiProvider>().notNull(),
  key_prefix: text(),
  sealed_api_key: text(),
  base_url: text(),
  organization_id: text(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  all_projects: integer({ mode: 'boolean' }).notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type AiAccountRow = typeof aiAccounts.$inferSelect;

export const aiAccountProjects = sqliteTable('ai_account_projects', {
  ai_account_id: integer().notNull(),
  project_id: integer().notNull(),
});

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

export const databaseProjectLinks = sqliteTable('database_project_links', {
  database_project_id: integer().notNull(),
  project_id: integer().notNull(),
  is_shown: integer({ mode: 'boolean' }).notNull(),
});
