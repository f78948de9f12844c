/** Tables as CSV (RFC 4180), of any length, and safe to open in a spreadsheet. */
import { stringify } from 'csv-stringify/sync';
import { streamResponse } from './encoding.ts';
import { t } from './schema.ts';

/** A table: its headers, and its rows, some at a time; a piece may be empty. */
export interface CsvTable {
  columns: readonly string[];
  pieces: Iterator<readonly (readonly unknown[])[]>;
}

/**
 * Rows as lines. What a spreadsheet would take for a formula, numbers apart, gets an apostrophe in front.
 * Items of a list are joined by commas; other objects are JSON.
 */
export function csvOf(rows: readonly (readonly unknown[])[]): string {
  return stringify(
    rows.map((row) => row.map(cellOf)),
    { escape_formulas: true },
  );
}

function cellOf(value: unknown): string | number {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** What a route that answers one says of it. */
export const CSV_ANSWER = {
  response: t.String(),
  produces: 'text/csv',
  headers: { 'Content-Disposition': '`attachment`, and the file name.' },
};

/** The table as a download. */
export function csvResponse(filename: string, { columns, pieces }: CsvTable): Response {
  const texts = (function* () {
    yield csvOf([columns]);
    for (let next = pieces.next(); !next.done; next = pieces.next())
      yield next.value.length > 0 ? csvOf(next.value) : '';
  })();
  return streamResponse(texts, {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${filename}"`,
  });
}
