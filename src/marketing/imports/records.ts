/** An import as clients see it, and its counters. */
import { MINUTE_MS, toIso } from '../../platform/host/clock.ts';
import { present } from '../../platform/http/fields.ts';
import { FIELDS, type ImportRecord } from './schemas.ts';
import type { ImportRow } from './tables.ts';

/** Row numbers count the header. */
const HEADER_ROWS = 1;
/** What may become of a row, in the order in which people see it. */
export const COUNTERS = [
  'accepted',
  'updated_existing',
  'duplicate',
  'suppressed',
  'no_mx',
  'invalid_syntax',
  'missing_consent',
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

/** An import as it stands at a moment. `rows_per_minute` is the rate of imports that API keys start. */
export function presentImport(
  row: ImportRow,
  list: string,
  on: { rows_per_minute: number; now_ms: number },
): ImportRecord {
  const { method, total_rows, settings } = row;
  const rows_per_minute = settings.is_paced ? on.rows_per_minute : null;
  const processed_rows = processedRows(row);
  const { named, kept, left_out } = settings.columns;
  const columns = { fields: named, kept: Object.keys(kept), left_out, unknown_words: settings.unknown_words };
  return present(FIELDS, {
    ...row,
    list,
    processed_rows,
    progress_percent: total_rows === null ? null : percentOf(processed_rows, total_rows),
    delimiter: method === 'csv' ? settings.delimiter : null,
    columns: Object.keys(named).length > 0 ? columns : null,
    defaults: settings.defaults,
    update_existing: settings.update_existing,
    rows_per_minute,
    done_at_estimate: toIso(estimateEnd(row, rows_per_minute, on.now_ms)),
  });
}

/**
 * When the last row is taken up, by its rate or by its speed so far; null where that can't be told, or it is
 * done.
 */
function estimateEnd(row: ImportRow, rows_per_minute: number | null, now_ms: number): number | null {
  const { status, position, total_rows, started_at } = row;
  const is_under_way = status === 'pending' || status === 'processing';
  if (!is_under_way || position.is_file_done || total_rows === null) return null;
  const taken = position.row - HEADER_ROWS;
  const left = Math.max(0, total_rows - taken);
  if (rows_per_minute !== null) return now_ms + Math.ceil((left * MINUTE_MS) / rows_per_minute);
  return started_at === null || taken === 0
    ? null
    : now_ms + Math.ceil((left * (now_ms - started_at)) / taken);
}

function percentOf(done: number, total: number): number {
  return total === 0 ? 100 : Math.floor((100 * done) / total);
}
