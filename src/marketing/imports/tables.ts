/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { ImportPosition, ImportSettings, WaitingFields } from './schemas.ts';

export const IMPORT_STATUSES = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

export const contactImports = sqliteTable('contact_imports', {
  id: text().primaryKey(),
  project_id: integer().notNull(),
  list_id: integer().notNull(),
  job_id: text(),
  method: text().$type<'paste' | 'csv'>().notNull(),
  status: text().$type<ImportStatus>().notNull(),
  object_public_id: text(),
  settings: text({ mode: 'json' }).$type<ImportSettings>().notNull(),
  position: text({ mode: 'json' }).$type<ImportPosition>().notNull(),
  total_rows: integer(),
  accepted: integer().notNull(),
  duplicate: integer().notNull(),
  invalid_syntax: integer().notNull(),
  no_mx: integer().notNull(),
  suppressed: integer().notNull(),
  missing_consent: integer().notNull(),
  updated_existing: integer().notNull(),
  error: text(),
  created_at: integer().notNull(),
  started_at: integer(),
  finished_at: integer(),
});
export type ImportRow = typeof contactImports.$inferSelect;

export const contactImportRejections = sqliteTable('contact_import_rejections', {
  import_id: text().notNull(),
  row_number: integer().notNull(),
  email: text().notNull(),
  reason: text().notNull(),
});

export const contactImportWaiting = sqliteTable('contact_import_waiting', {
  import_id: text().notNull(),
  row_number: integer().notNull(),
  fields: text({ mode: 'json' }).$type<WaitingFields>().notNull(),
});
