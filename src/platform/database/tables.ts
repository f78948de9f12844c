/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Changes } from './schemas.ts';

export const JOB_STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];
export const ACTOR_KINDS = ['token', 'person', 'shell', 'system'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

export const meta = sqliteTable('meta', {
  name: text().primaryKey(),
  value: text().notNull(),
});

export const dataKeys = sqliteTable('data_keys', {
  id: integer().primaryKey({ autoIncrement: true }),
  scope: text().notNull(),
  wrapped: text().notNull(),
  created_at: integer().notNull(),
});

export const jobs = sqliteTable('jobs', {
  id: text().primaryKey(),
  project_id: integer(),
  type: text().notNull(),
  status: text().$type<JobStatus>().notNull(),
  priority: integer().notNull(),
  lane: text().notNull(),
  run_at: integer().notNull(),
  attempts: integer().notNull(),
  max_attempts: integer().notNull(),
  interruptions: integer().notNull(),
  payload: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  result: text({ mode: 'json' }).$type<Record<string, unknown>>(),
  error: text(),
  queued_at: integer().notNull(),
  started_at: integer(),
  finished_at: integer(),
});
export type JobRow = typeof jobs.$inferSelect;

export const rowCounts = sqliteTable('row_counts', {
  list: text().notNull(),
  project_id: integer().notNull(),
  facet: text().notNull(),
  n: integer().notNull(),
});

export const auditEvents = sqliteTable('audit_events', {
  id: text().primaryKey(),
  at: integer().notNull(),
  actor_kind: text().$type<ActorKind>().notNull(),
  actor_id: text(),
  actor_name: text().notNull(),
  ip: text(),
  event: text().notNull(),
  target: text(),
  project_id: integer(),
  project_public_id: text(),
  metadata: text({ mode: 'json' }).$type<Record<string, unknown>>().notNull(),
  changes: text({ mode: 'json' }).$type<Changes>().notNull(),
});

export const idempotentAnswers = sqliteTable('idempotent_answers', {
  project_id: integer().notNull(),
  caller: text().notNull(),
  idempotency_key: text().notNull(),
  request_hash: text().notNull(),
  status: integer().notNull(),
  body: text().notNull(),
  created_at: integer().notNull(),
});

export const rateWindows = sqliteTable('rate_windows', {
  caller: text().primaryKey(),
  ends_at: integer().notNull(),
  used: integer().notNull(),
});
