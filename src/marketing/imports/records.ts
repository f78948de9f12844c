/** An import as clients see it, and its counters. */
import { toIso } from '../../platform/host/clock.ts';
import type { ImportRow, ImportStatus } from './tables.ts';

const COUNTERS = [
  'accepted',
  'duplicate',
  'invalid_syntax',
  'no_mx',
  'suppressed',
  'missing_consent',
  'updated_existing',
] as const;
export type Counters = Record<(typeof COUNTERS)[number], number>;

/** The counters of an import: together they are the rows that are done. */
export function countersOf(row: Counters): Counters {
  const { accepted, duplicate, invalid_syntax, no_mx, suppressed, missing_consent, updated_existing } = row;
  return { accepted, duplicate, invalid_syntax, no_mx, suppressed, missing_consent, updated_existing };
}

function processedRows(row: Counters): number {
  return COUNTERS.reduce((sum, counter) => sum + row[counter], 0);
}

export interface ImportRecord extends Counters {
  id: string;
  /** The list's id. */
  list: string;
  status: ImportStatus;
  method: 'paste' | 'csv';
  /** Null while the rows of a long file are being counted. */
  total_rows: number | null;
  processed_rows: number;
  /** Hundredths of the rows that are done. */
  progress_percent: number | null;
  error: string | null;
  job_id: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

/** A row with its list's id. */
export function present(row: ImportRow, list: string): ImportRecord {
  const { id, status, method, total_rows, error, job_id } = row;
  const processed_rows = processedRows(row);
  return {
    id,
    list,
    status,
    method,
    total_rows,
    ...countersOf(row),
    processed_rows,
    progress_percent: total_rows === null ? null : percentOf(processed_rows, total_rows),
    error,
    job_id,
    created_at: toIso(row.created_at),
    started_at: toIso(row.started_at),
    finished_at: toIso(row.finished_at),
  };
}

function percentOf(done: number, total: number): number {
  return total === 0 ? 100 : Math.floor((100 * done) / total);
}
