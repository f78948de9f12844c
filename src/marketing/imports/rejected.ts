/** The rows that an import did not take, as a table: number, address and reason, then what else stood in their file. */
import { SWEEP_BATCH } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { type ReadCsvTable, withoutGuard } from '../../platform/http/csv.ts';
import {
  type CsvFile,
  type Dialect,
  MissingFile,
  readCsvRows,
  readDialect,
  UnreadableCsv,
} from './csv-rows.ts';
import { REJECTED_HEADERS, withoutRejectedHeaders } from './headers.ts';
import * as store from './store.ts';
import type { ImportRow } from './tables.ts';

/** The file of an import as far as it still tells of rows. */
interface Source {
  open: CsvFile;
  dialect: Dialect;
  headers: string[];
  /** Of columns beside the address. */
  places: number[];
}

/** In the order of the file. Other columns than the first three are there as long as the file is. */
export async function rejectedTable(read: Tx, row: ImportRow, open: CsvFile | null): Promise<ReadCsvTable> {
  const source = open && (await readSource(row, open));
  return {
    columns: [...REJECTED_HEADERS, ...(source?.headers ?? [])],
    pieces: piecesOf(read, row.id, source),
  };
}

async function readSource({ settings }: ImportRow, open: CsvFile): Promise<Source | null> {
  try {
    const dialect = await readDialect(open, settings.delimiter);
    for await (const { cells } of readCsvRows(open, dialect)) {
      const places = withoutRejectedHeaders(cells).filter((place) => place !== settings.columns.fields.email);
      return { open, dialect, places, headers: cellsAt(cells, places) };
    }
    return null;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

async function* piecesOf(
  read: Tx,
  import_id: string,
  source: Source | null,
): AsyncGenerator<unknown[][], undefined> {
  const rows = source && readCsvRows(source.open, source.dialect);
  let at = 0;
  try {
    for (let after_row = 0; ; ) {
      const piece = store.listRejections(read, import_id, after_row, SWEEP_BATCH);
      const table: unknown[][] = [];
      for (const { row_number, email, reason } of piece) {
        let cells: string[] = [];
        for (; rows && at < row_number; at += 1) cells = await nextOf(rows);
        table.push([row_number, email, reason, ...cellsAt(cells, source?.places ?? [])]);
        after_row = row_number;
      }
      if (piece.length === 0) return;
      yield table;
    }
  } finally {
    await rows?.return(undefined);
  }
}

/** Empty where the file has no more, or went meanwhile. */
async function nextOf(rows: ReturnType<typeof readCsvRows>): Promise<string[]> {
  try {
    const { value } = await rows.next();
    return value?.cells ?? [];
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

const isGone = (error: unknown): boolean => error instanceof MissingFile || error instanceof UnreadableCsv;

/** As they were: what the table guards again is not guarded twice. */
function cellsAt(cells: readonly string[], places: readonly number[]): string[] {
  return places.map((place) => withoutGuard(cells[place] ?? ''));
}
