/** Tables that a verb writes to stdout as CSV, however long they are. */
import { type CsvTable, csvOf } from '../http/csv.ts';
import type { CliContext, CliResult } from './cli.ts';
import type { Options } from './options.ts';

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
