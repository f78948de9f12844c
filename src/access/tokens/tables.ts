/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const accessTokens = sqliteTable('access_tokens', {
  id: integer().primaryKey({ autoIncrement: true }),
  name: text().notNull(),
  token_prefix: text().notNull(),
  token_hash: text().notNull(),
  all_projects: integer({ mode: 'boolean' }).notNull(),
  can_manage_database: integer({ mode: 'boolean' }).notNull(),
  can_read_vault: integer({ mode: 'boolean' }).notNull(),
  can_reveal_vault: integer({ mode: 'boolean' }).notNull(),
  can_write_vault: integer({ mode: 'boolean' }).notNull(),
  can_read_database_tokens: integer({ mode: 'boolean' }).notNull(),
  can_read_ai_accounts: integer({ mode: 'boolean' }).notNull(),
  environments: text({ mode: 'json' }).$type<string[]>(),
  expires_at: integer(),
  revoked_at: integer(),
  last_used_at: integer(),
  last_used_ip: text(),
  created_at: integer().notNull(),
  can_administer: integer({ mode: 'boolean' }).notNull(),
  created_by_kind: text().$type<'token' | 'person' | 'shell' | 'system'>(),
  created_by_id: text(),
  created_by_name: text(),
  person_id: integer(),
  read_only: integer({ mode: 'boolean' }).notNull(),
  is_persons_read_only: integer({ mode: 'boolean' }).notNull(),
});
export type TokenRow = typeof accessTokens.$inferSelect;

export const accessTokenProjects = sqliteTable('access_token_projects', {
  token_id: integer().notNull(),
  project_id: integer().notNull(),
});
