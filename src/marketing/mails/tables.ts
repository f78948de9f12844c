/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const CLICK_FLAGS = ['head', 'robot', 'burst', 'machine'] as const;
export type ClickFlag = (typeof CLICK_FLAGS)[number];

export const mergeSources = sqliteTable('merge_sources', {
  id: integer().primaryKey({ autoIncrement: true }),
  project_id: integer().notNull(),
  hash: text().notNull(),
  created_at: integer().notNull(),
  content: text().notNull(),
});

export const mergeSourceNames = sqliteTable('merge_source_names', {
  former_id: integer().notNull(),
  source_id: integer().notNull(),
});

export const mergeLinks = sqliteTable('merge_links', {
  source_id: integer().notNull(),
  position: integer().notNull(),
  target: text().notNull(),
  token_hosts: text(),
  utm: text(),
});

export const emailClicks = sqliteTable('email_clicks', {
  id: integer().primaryKey(),
  email_id: text().notNull(),
  position: integer().notNull(),
  at: integer().notNull(),
  flag: text().$type<ClickFlag>(),
  is_settled: integer({ mode: 'boolean' }).notNull(),
  user_agent: text(),
});
