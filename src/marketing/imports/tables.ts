/** Drizzle definitions of contact imports, the rows they did not take, and those that wait for an answer of the DNS. */

import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const IMPORT_STATUSES = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

/** What may stand between the cells of a file. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** What an import was asked for; columns are places in a row of the file. */
interface ImportSettings {
  columns: { fields: Partial<Record<string, number>>; kept: Record<string, number> };
  defaults: { consent_basis: string | null; source_platform: string; tags: string[] };
  update_existing: boolean;
  /** Between the cells of the file. */
  delimiter: Delimiter;
  /** By an API key: it goes on at the rate that these are given, all others as fast as it can. */
  is_paced: boolean;
  /** By a test key. */
  is_test: boolean;
}

/** Where an import is: it changes with the counters, in one commit. */
export interface ImportPosition {
  /** Counts the commits: a run that saw another number is out of date, and stops. */
  commits: number;
  /** The last row of the file that was taken up, with the header as row 1; of a paste, its last. */
  row: number;
  /** Where the next row begins. */
  byte: number;
  is_file_done: boolean;
  /** Since when rows have waited for the DNS, and how often they were tried again. */
  waiting_since: number | null;
  dns_tries: number;
}

/** Fields of a row that waits: cells of a file under their places, or what was pasted. */
export type WaitingFields =
  | { cells: string[] }
  | { email: string; first_name: string | null; last_name: string | null };

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

export const contactImportRejections = sqliteTable(
  'contact_import_rejections',
  {
    import_id: text().notNull(),
    row_number: integer().notNull(),
    email: text().notNull(),
    reason: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.row_number] })],
);

export const contactImportWaiting = sqliteTable(
  'contact_import_waiting',
  {
    import_id: text().notNull(),
    row_number: integer().notNull(),
    fields: text({ mode: 'json' }).$type<WaitingFields>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.import_id, table.row_number] })],
);
