/** Drizzle definition of inboxes: where the reports about a mailbox's mail arrive. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const inboxes = sqliteTable('inboxes', {
  mailbox_id: integer().primaryKey(),
  version: text().notNull(),
  host: text().notNull(),
  port: integer().notNull(),
  /** `none` only to this very machine. */
  security: text().$type<'tls' | 'starttls' | 'none'>().notNull(),
  username: text().notNull(),
  sealed_password: text().notNull(),
  folder: text().notNull(),
  uid_validity: text(),
  last_uid: integer().notNull(),
  unflagged: text({ mode: 'json' }).$type<number[]>().notNull(),
  reports: integer().notNull(),
  skipped: integer().notNull(),
  /** The last of them, oldest first. */
  last_skipped: text({ mode: 'json' }).$type<{ uid: number; at: number }[]>().notNull(),
  last_look_at: integer(),
  last_error: text(),
  last_error_at: integer(),
});
export type InboxRow = typeof inboxes.$inferSelect;
