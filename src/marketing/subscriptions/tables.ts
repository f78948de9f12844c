/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { ComingBack } from './schemas.ts';

export const SIGN_UP_OUTCOMES = [
  'asked',
  'confirmed',
  'mails_used_up',
  'no_double_opt_in',
  'other_reason',
  'no_mx',
  'test',
] as const;
export type SignUpOutcome = (typeof SIGN_UP_OUTCOMES)[number];

export const contactConfirmations = sqliteTable('contact_confirmations', {
  token_hash: text().primaryKey(),
  contact_id: integer().notNull(),
  expires_at: integer().notNull(),
  is_test: integer({ mode: 'boolean' }).notNull(),
  tracking_at: integer(),
  tracking_ip: text(),
  tracking_origin: text(),
  created_at: integer().notNull(),
  comes_back: text({ mode: 'json' }).$type<ComingBack>(),
});

export const signUpsOfLeft = sqliteTable('sign_ups_of_left', {
  project_id: integer().notNull(),
  hash: text().notNull(),
  list_id: integer().notNull(),
  at: integer().notNull(),
  outcome: text().$type<SignUpOutcome>().notNull(),
  outcome_at: integer().notNull(),
});
export type SignUpOfLeftRow = typeof signUpsOfLeft.$inferSelect;
