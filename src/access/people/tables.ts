/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const people = sqliteTable('people', {
  id: integer().primaryKey({ autoIncrement: true }),
  email: text().notNull(),
  name: text(),
  all_projects: integer({ mode: 'boolean' }).notNull(),
  can_manage_database: integer({ mode: 'boolean' }).notNull(),
  can_read_vault: integer({ mode: 'boolean' }).notNull(),
  can_reveal_vault: integer({ mode: 'boolean' }).notNull(),
  can_write_vault: integer({ mode: 'boolean' }).notNull(),
  can_read_database_tokens: integer({ mode: 'boolean' }).notNull(),
  can_read_ai_accounts: integer({ mode: 'boolean' }).notNull(),
  can_administer: integer({ mode: 'boolean' }).notNull(),
  is_active: integer({ mode: 'boolean' }).notNull(),
  password_hash: text(),
  sealed_totp: text(),
  sealed_next_totp: text(),
  totp_step: integer().notNull(),
  last_sign_in_at: integer(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
  wrong_codes: integer().notNull(),
  wrong_code_at: integer(),
  read_only: integer({ mode: 'boolean' }).notNull(),
  sso_issuer: text(),
  sso_subject: text(),
  user_handle: text(),
});
export type PersonRow = typeof people.$inferSelect;

export const personProjects = sqliteTable('person_projects', {
  person_id: integer().notNull(),
  project_id: integer().notNull(),
});

export const personLinks = sqliteTable('person_links', {
  token_hash: text().primaryKey(),
  person_id: integer(),
  expires_at: integer().notNull(),
});
export type LinkRow = typeof personLinks.$inferSelect;

export const personSessions = sqliteTable('person_sessions', {
  id: text().primaryKey(),
  token_hash: text().notNull(),
  person_id: integer().notNull(),
  ip: text(),
  user_agent: text(),
  signed_in_by: text().$type<'password' | 'passkey' | 'sso'>().notNull(),
  created_at: integer().notNull(),
  last_seen_at: integer().notNull(),
});
export type SessionRow = typeof personSessions.$inferSelect;

export const personRecoveryCodes = sqliteTable('person_recovery_codes', {
  person_id: integer().notNull(),
  code_hash: text().notNull(),
});

export const personPasskeys = sqliteTable('person_passkeys', {
  id: text().primaryKey(),
  credential_id: text().notNull(),
  person_id: integer().notNull(),
  name: text().notNull(),
  host: text().notNull(),
  public_key: text().notNull(),
  counter: integer().notNull(),
  backed_up: integer({ mode: 'boolean' }).notNull(),
  created_at: integer().notNull(),
  last_used_at: integer(),
  suspected_at: integer(),
});
export type PasskeyRow = typeof personPasskeys.$inferSelect;

export const usedChallenges = sqliteTable('used_challenges', {
  challenge: text().primaryKey(),
  ends_at: integer().notNull(),
});

export const personNetworks = sqliteTable('person_networks', {
  person_id: integer().notNull(),
  network: text().notNull(),
  last_sign_in_at: integer().notNull(),
});
