/** Drizzle definitions of what marketing mail is made from, of where its links lead, and of who asked for them. */
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

/** Why a click or an opening counts for nobody. `machine`: a picture was fetched by one that does so for people. */
export type ClickFlag = 'head' | 'robot' | 'burst' | 'machine';

export const mergeSources = sqliteTable('merge_sources', {
  id: integer().primaryKey({ autoIncrement: true }),
  project_id: integer().notNull(),
  hash: text().notNull(),
  created_at: integer().notNull(),
  content: text().notNull(),
});

export const mergeSourceNames = sqliteTable(
  'merge_source_names',
  { former_id: integer().notNull(), source_id: integer().notNull() },
  (table) => [primaryKey({ columns: [table.former_id, table.source_id] })],
);

export const mergeLinks = sqliteTable(
  'merge_links',
  {
    source_id: integer().notNull(),
    position: integer().notNull(),
    target: text().notNull(),
    token_hosts: text(),
  },
  (table) => [primaryKey({ columns: [table.source_id, table.position] })],
);

export const emailClicks = sqliteTable('email_clicks', {
  id: integer().primaryKey(),
  email_id: text().notNull(),
  position: integer().notNull(),
  at: integer().notNull(),
  flag: text().$type<ClickFlag>(),
  is_settled: integer({ mode: 'boolean' }).notNull(),
  user_agent: text(),
});
