/** Tables as CSV (RFC 4180), of any length, and safe to open in a spreadsheet. */
import { stringify } from 'csv-stringify/sync';
import { streamResponse } from './encoding.ts';
import { t } from './schema.ts';

type Piece = readonly (readonly unknown[])[];

/** A table: its headers, and its rows, some at a time; a piece may be empty. */
export interface CsvTable {
  columns: readonly string[];
  pieces: Iterator<Piece>;
}

/** One that is read from elsewhere meanwhile. */
export interface ReadCsvTable {
  columns: readonly string[];
  pieces: AsyncIterator<Piece>;
}

/** What a spreadsheet would take for a formula, and what looks like such a cell with its apostrophe. */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
/** What would separate an item of a list from the next, or begin its quotes. */
const NEEDS_QUOTES = /^"|[,;|]/;

/**
 * Rows as lines. What a spreadsheet would take for a formula, numbers apart, gets an apostrophe in front, which `readCell` takes off.
 * Items of a list are joined by commas, in quotes where they hold one; other objects are JSON.
 */
export function csvOf(rows: readonly (readonly unknown[])[]): string {
  return stringify(rows.map((row) => row.map(cellOf)));
}

function cellOf(value: unknown): string {
  const text = textOf(value);
  return typeof value !== 'number' && FORMULA.test(text) ? `'${text}` : text;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return value.map(itemOf).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function itemOf(item: string): string {
  return NEEDS_QUOTES.test(item) ? `"${item.replaceAll('"', '""')}"` : item;
}

/** A cell without the apostrophe that `csvOf` puts before what looks like a formula. */
export function withoutGuard(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** As `withoutGuard`, and without blanks around it. */
export const readCell = (cell: string): string => withoutGuard(cell).trim();

/** The items of a list in a cell: with commas, semicolons or bars between them, in quotes or without. */
export function readItems(cell: string): string[] {
  const items = cell.matchAll(/\s*(?:"((?:[^"]|"")*)"\s*(?=[,;|]|$)|([^,;|]*))(?:[,;|]|$)/g);
  return [...items].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain);
}

/** What a route that answers one says of it. */
export const CSV_ANSWER = {
  response: t.String(),
  produces: 'text/csv',
  headers: { 'Content-Disposition': '`attachment`, and the file name.' },
};

/** The table as a download. */
export function csvResponse(filename: string, { columns, pieces }: CsvTable | ReadCsvTable): Response {
  const texts = (async function* () {
    yield csvOf([columns]);
    try {
      for (let next = await pieces.next(); !next.done; next = await pieces.next())
        yield next.value.length > 0 ? csvOf(next.value) : '';
    } finally {
      await pieces.return?.();
    }
  })();
  return streamResponse(texts, {
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${filename}"`,
  });
}
