/** Lays answers out for people, as tables or the fields of one thing; or writes a table as CSV. */
import { type CsvTable, csvOf } from '../http/csv.ts';
import type { CliContext, CliResult } from './cli.ts';
import { colourState, tone, withoutMarks } from './colour.ts';
import type { Options } from './options.ts';

/** Lists of words are joined with commas; what else has parts is JSON. */
function cellText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return withoutMarks(String(value));
  const is_list = Array.isArray(value) && value.every((each) => typeof each !== 'object');
  return is_list ? cellText(value.join(', ')) : withoutMarks(JSON.stringify(value));
}

/** In a table: a moment to the minute, and one line; a relay's reply of several, say, would get between the rows. */
function lineText(cell: unknown): string {
  return cellText(cell)
    .replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d\.\d{3}Z$/, '$1 $2Z')
    .replace(/\s*\n\s*/g, ' ');
}

type FieldIn<C extends string> = C extends `${infer One} ${infer Rest}`
  ? FieldIn<One> | FieldIn<Rest>
  : C extends `${string}=${infer Field}`
    ? Field
    : C;

/** Fields of a record as a row: `id next_run=next_run_at` has two of them, the second titled NEXT RUN. */
export function rowOf<T extends object, const C extends string>(
  record: T,
  columns: C & (FieldIn<C> extends keyof T ? unknown : never),
): Record<string, unknown> {
  const fields = new Map<string, unknown>(Object.entries(record));
  const cells = columns.split(' ').map((column) => {
    const [title = '', field = title] = column.split('=');
    return [title.replaceAll('_', ' '), fields.get(field)];
  });
  return Object.fromEntries(cells);
}

/** A text that is laid out for so many columns once it is known where it will be shown. */
export type Table = (columns: number) => string;

const GAP = '  ';

/** Help fits into this where no terminal says its width. */
export const PLAIN_COLUMNS = 80;

/** The columns that a table may take: COLUMNS, else those of the terminal that shows it, else any number. */
export function roomFor(
  terminal: number | null,
  { COLUMNS }: Readonly<Record<string, string | undefined>>,
): number {
  const said = Number(COLUMNS);
  return Number.isInteger(said) && said > 0 ? said : (terminal ?? Number.POSITIVE_INFINITY);
}

/**
 * Rows in aligned columns under their titles, which are the names of their cells; `empty` is said when there are none. Where they do not fit the last columns
 * are left out, one by one, but never the first `keep`; a line below names them.
 */
export function formatTable(
  rows: readonly Readonly<Record<string, unknown>>[],
  empty: string,
  { keep = 1 }: { keep?: number } = {},
): Table {
  const titles = Object.keys(rows[0] ?? {});
  if (rows.length === 0) return () => empty;
  const lines = [
    titles.map((title) => title.toUpperCase()),
    ...rows.map((row) => titles.map((title) => lineText(row[title]))),
  ];
  const widths = titles.map((_, column) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ''))),
  );
  const widthOf = (count: number): number =>
    widths.slice(0, count).reduce((sum, width) => sum + width, GAP.length * (count - 1));
  return (columns) => {
    let shown = titles.length;
    while (shown > keep && widthOf(shown) > columns) shown -= 1;
    const table = lines.map((line, row) => {
      const cells = line.slice(0, shown).map((cell, column) => {
        const room = ' '.repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(cell)));
        return (row > 0 && TELLS_STATE.test(titles[column] ?? '') ? colourState(cell) : cell) + room;
      });
      const text = cells.join(GAP).trimEnd();
      return row === 0 ? tone('heading', text) : text;
    });
    if (shown < titles.length)
      table.push('', `Not shown for want of room: ${titles.slice(shown).join(', ')}. --json has all.`);
    return table.join('\n');
  };
}

const TELLS_STATE = /^(state|status)$/;

/** Names and values of one thing, aligned. */
export function formatFields(fields: object): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`)
    .join('\n');
}

/** Writes a table; with `--json` it is one document, an array of objects by column. */
export function writeTable({ out }: Pick<CliContext, 'out'>, options: Options, table: CsvTable): CliResult {
  const { columns, pieces } = table;
  const all: object[] = [];
  if (options.json !== true) out(csvOf([columns]));
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    if (options.json !== true) out(csvOf(next.value));
    else
      for (const row of next.value)
        all.push(Object.fromEntries(columns.map((column, place) => [column, row[place] ?? null])));
  }
  return { json: all, text: '' };
}
