/** Drizzle definition of access tokens. Which projects one is scoped to stands in access/projects. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

const capability = () => integer({ mode: 'boolean' }).notNull();

export const accessTokens = sqliteTable('access_tokens', {
  id: integer().primaryKey({ autoIncrement: true }),
  name: text().notNull(),
  token_prefix: text().notNull(),
  token_hash: text().notNull(),
  all_projects: integer({ mode: 'boolean' }).notNull(),
  can_manage_database: capability(),
  can_read_vault: capability(),
  can_reveal_vault: capability(),
  can_write_vault: capability(),
  can_read_database_tokens: capability(),
  can_read_ai_accounts: capability(),
  can_administer: capability(),
  expires_at: integer(),
  revoked_at: integer(),
  last_used_at: integer(),
  last_used_ip: text(),
  created_at: integer().notNull(),
  /** All three are null where nobody knows any more who made it. */
  created_by_kind: text().$type<'token' | 'person' | 'shell' | 'system'>(),
  created_by_id: text(),
  created_by_name: text(),
  /** Whose it is: who made it, or made the token that made it. The person may be gone. */
  person_id: integer(),
});
export type TokenRow = typeof accessTokens.$inferSelect;

export const accessTokenProjects = sqliteTable(
  'access_token_projects',
  { token_id: integer().notNull(), project_id: integer().notNull() },
  (table) => [primaryKey({ columns: [table.token_id, table.project_id] })],
);
