/** Drizzle definitions: stored vault fields, when a service changed, and the trail of reveals. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const vaultServices = sqliteTable(
  'vault_services',
  {
    project_id: integer().notNull(),
    service: text().notNull(),
    updated_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project_id, table.service] })],
);

export const vaultValues = sqliteTable('vault_values', {
  id: integer().primaryKey({ autoIncrement: true }),
  project_id: integer().notNull(),
  service: text().notNull(),
  field: text().notNull(),
  sealed: text().notNull(),
  filename: text(),
  /** Of the service `env` alone; the fields of others say themselves whether they are secret. */
  is_plain: integer({ mode: 'boolean' }).notNull(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
});
export type VaultValueRow = typeof vaultValues.$inferSelect;

export type RevealHow = 'reveal' | 'file' | 'env' | 'run';

export const vaultReveals = sqliteTable('vault_reveals', {
  id: integer().primaryKey({ autoIncrement: true }),
  project_id: integer().notNull(),
  at: integer().notNull(),
  actor_kind: text().$type<'token' | 'person' | 'shell' | 'system'>().notNull(),
  actor_id: text(),
  actor_name: text().notNull(),
  ip: text(),
  how: text().$type<RevealHow>().notNull(),
  service: text(),
  field: text(),
});
