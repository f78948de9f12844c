/** Drizzle definitions: accounts at AI providers, and whom they serve. */
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

export const aiAccounts = sqliteTable('ai_accounts', {
  id: integer().primaryKey({ autoIncrement: true }),
  public_id: text().notNull(),
  name: text().notNull(),
  provider: text().$type<(typeof AI_PROVIDERS)[number]>().notNull(),
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

export const aiAccountProjects = sqliteTable(
  'ai_account_projects',
  {
    ai_account_id: integer().notNull(),
    project_id: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.ai_account_id, table.project_id] })],
);
