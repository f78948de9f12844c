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
  created_by_kind: text().$type<'token' | 'person' | 'shell' | 'system' | 'trust'>(),
  created_by_id: text(),
  created_by_name: text(),
  person_id: integer(),
  read_only: integer({ mode: 'boolean' }).notNull(),
  is_persons_read_only: integer({ mode: 'boolean' }).notNull(),
  trust_id: integer(),
});
export type TokenRow = typeof accessTokens.$inferSelect;

export const accessTokenProjects = sqliteTable('access_token_projects', {
  token_id: integer().notNull(),
  project_id: integer().notNull(),
});

export const tokenTrusts = sqliteTable('token_trusts', {
  id: integer().primaryKey({ autoIncrement: true }),
  name: text().notNull(),
  issuer: text().notNull(),
  subject: text().notNull(),
  audience: text(),
  claims: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
  capabilities: text({ mode: 'json' }).$type<string[]>().notNull(),
  environments: text({ mode: 'json' }).$type<string[]>(),
  read_only: integer({ mode: 'boolean' }).notNull(),
  is_persons_read_only: integer({ mode: 'boolean' }).notNull(),
  minutes: integer().notNull(),
  last_used_at: integer(),
  last_refused_at: integer(),
  last_refused_reason: text(),
  last_refused_subject: text(),
  created_at: integer().notNull(),
  created_by_kind: text().$type<'token' | 'person' | 'shell' | 'system'>().notNull(),
  created_by_id: text(),
  created_by_name: text().notNull(),
  person_id: integer(),
});
export type TrustRow = typeof tokenTrusts.$inferSelect;

export const tokenTrustProjects = sqliteTable('token_trust_projects', {
  trust_id: integer().notNull(),
  project_id: integer().notNull(),
});
