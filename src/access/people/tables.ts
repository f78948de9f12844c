/** Drizzle definitions of people and of what they sign in with. Which projects one is scoped to stands in access/projects. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

const flag = () => integer({ mode: 'boolean' }).notNull();

export const people = sqliteTable('people', {
  id: integer().primaryKey({ autoIncrement: true }),
  email: text().notNull(),
  name: text(),
  all_projects: flag(),
  can_manage_database: flag(),
  can_read_vault: flag(),
  can_reveal_vault: flag(),
  can_write_vault: flag(),
  can_read_database_tokens: flag(),
  can_read_ai_accounts: flag(),
  can_administer: flag(),
  is_active: flag(),
  password_hash: text(),
  sealed_totp: text(),
  sealed_next_totp: text(),
  totp_step: integer().notNull(),
  wrong_codes: integer().notNull(),
  wrong_code_at: integer(),
  last_sign_in_at: integer(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type PersonRow = typeof people.$inferSelect;

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
  created_at: integer().notNull(),
  last_seen_at: integer().notNull(),
});
export type SessionRow = typeof personSessions.$inferSelect;

export const personRecoveryCodes = sqliteTable(
  'person_recovery_codes',
  { person_id: integer().notNull(), code_hash: text().notNull() },
  (table) => [primaryKey({ columns: [table.person_id, table.code_hash] })],
);

export const personNetworks = sqliteTable(
  'person_networks',
  { person_id: integer().notNull(), network: text().notNull(), last_sign_in_at: integer().notNull() },
  (table) => [primaryKey({ columns: [table.person_id, table.network] })],
);

export const personProjects = sqliteTable(
  'person_projects',
  { person_id: integer().notNull(), project_id: integer().notNull() },
  (table) => [primaryKey({ columns: [table.person_id, table.project_id] })],
);
