/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const VERSION_KINDS = ['set', 'removed', 'restored'] as const;
export type VersionKind = (typeof VERSION_KINDS)[number];
export const REVEAL_HOWS = ['reveal', 'file', 'env', 'run', 'kv', 'version'] as const;
export type RevealHow = (typeof REVEAL_HOWS)[number];

export const vaultServices = sqliteTable('vault_services', {
  project_id: integer().notNull(),
  environment: text().notNull(),
  service: text().notNull(),
  updated_at: integer().notNull(),
});

export const vaultEnvironments = sqliteTable('vault_environments', {
  project_id: integer().notNull(),
  name: text().notNull(),
  inherits: integer({ mode: 'boolean' }).notNull(),
  changes: integer().notNull(),
  changed_at: integer(),
});
export type EnvironmentRow = typeof vaultEnvironments.$inferSelect;

export const vaultValues = sqliteTable('vault_values', {
  id: integer().primaryKey({ autoIncrement: true }),
  project_id: integer().notNull(),
  environment: text().notNull(),
  service: text().notNull(),
  field: text().notNull(),
  sealed: text().notNull(),
  filename: text(),
  created_at: integer().notNull(),
  updated_at: integer().notNull(),
  is_plain: integer({ mode: 'boolean' }).notNull(),
  expires_at: integer(),
  note: text(),
});
export type VaultValueRow = typeof vaultValues.$inferSelect;

export const vaultVersions = sqliteTable('vault_versions', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  environment: text().notNull(),
  service: text().notNull(),
  field: text().notNull(),
  kind: text().$type<VersionKind>().notNull(),
  sealed: text(),
  is_plain: integer({ mode: 'boolean' }).notNull(),
  filename: text(),
  changed_at: integer().notNull(),
  ended_at: integer(),
  actor_kind: text().$type<'token' | 'person' | 'shell' | 'system'>().notNull(),
  actor_id: text(),
  actor_name: text().notNull(),
});
export type VaultVersionRow = typeof vaultVersions.$inferSelect;

export const vaultReveals = sqliteTable('vault_reveals', {
  id: integer().primaryKey({ autoIncrement: true }),
  project_id: integer().notNull(),
  at: integer().notNull(),
  actor_kind: text().$type<'token' | 'person' | 'shell' | 'system'>().notNull(),
  actor_id: text(),
  actor_name: text().notNull(),
  ip: text(),
  how: text().$type<RevealHow>().notNull(),
  environment: text().notNull(),
  service: text(),
  field: text(),
});
