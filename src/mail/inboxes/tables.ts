/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const inboxes = sqliteTable('inboxes', {
  mailbox_id: integer().primaryKey(),
  version: text().notNull(),
  host: text().notNull(),
  port: integer().notNull(),
  security: text().$type<'tls' | 'starttls' | 'none'>().notNull(),
  username: text().notNull(),
  sealed_password: text().notNull(),
  folder: text().notNull(),
  uid_validity: text(),
  last_uid: integer().notNull(),
  unflagged: text({ mode: 'json' }).$type<number[]>().notNull(),
  reports: integer().notNull(),
  last_look_at: integer(),
  last_error: text(),
  last_error_at: integer(),
  skipped: integer().notNull(),
  last_skipped: text({ mode: 'json' }).$type<{ uid: number; at: number }[]>().notNull(),
  unread: integer().notNull(),
  last_unread: text({ mode: 'json' })
    .$type<{ at: number; subject: string; reason: 'too_large' | 'doctype' | 'encrypted' | 'broken' }[]>()
    .notNull(),
});
export type InboxRow = typeof inboxes.$inferSelect;
