/** The beginning of a CSV file, read in the browser: its headers, and the first rows for a preview. Pure but for the reading. */

/** As the API finds them. */
const DELIMITERS = [',', ';', '\t', '|'] as const;
type Delimiter = (typeof DELIMITERS)[number];

export interface CsvHead {
  delimiter: Delimiter;
  headers: string[];
  /** The first of them, as many as are shown. */
  rows: string[][];
  /** A problem that the import will meet, in words; null where none meets the eye. */
  problem: string | null;
}

const HEAD_BYTES = 256 * 1024;
const ROWS_SHOWN = 3;
/** As many and as long as the API tells the meaning of; of a name that is cut, nothing can become anyway. */
const MAX_COLUMNS = 1000;
const MAX_HEADER_CHARS = 1000;

/** Reads no more than the head: the file may be of any size. */
export async function readCsvHead(file: Blob): Promise<CsvHead> {
  const text = new TextDecoder().decode(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const [sep_line = '', sep] = /^"?sep=(.)"?(?:\r\n|\n|\r)/i.exec(text) ?? [];
  const table = text.slice(sep_line.length);
  const delimiter = DELIMITERS.find((each) => each === sep) ?? commonest(table);
  const [headers = [], ...rows] = parseCsv(table, ROWS_SHOWN + 1, delimiter);
  return {
    delimiter,
    headers: headers.slice(0, MAX_COLUMNS).map((header) => header.trim().slice(0, MAX_HEADER_CHARS)),
    rows,
    problem: problemOf(headers, text),
  };
}

/** The delimiter that the header has most of, outside of quotes. */
function commonest(table: string): Delimiter {
  const columnsWith = (delimiter: Delimiter): number => parseCsv(table, 1, delimiter)[0]?.length ?? 0;
  return DELIMITERS.reduce((most, each) => (columnsWith(each) > columnsWith(most) ? each : most));
}

function problemOf(headers: readonly string[], text: string): string | null {
  if (headers.every((header) => header.trim() === ''))
    return 'The file is empty: its first row must hold the names of the columns.';
  if (text.includes('\u{fffd}'))
    return 'Some letters are not UTF-8 and would be lost. Save the file as CSV in UTF-8.';
  return null;
}

/** Values that our tables have an apostrophe before, so that no spreadsheet takes them for formulas. */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/** A cell of a table of ours without that apostrophe. */
export function readCell(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** Up to `max` rows: quotes doubled within quotes, line breaks of any kind. A row that is cut off by the end counts. */
export function parseCsv(text: string, max: number, delimiter: string = DELIMITERS[0]): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let is_quoted = false;
  const endRow = (): void => {
    row.push(cell);
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
    cell = '';
  };
  for (let at = 0; at < text.length && rows.length < max; at += 1) {
    const char = text[at];
    if (is_quoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') {
        cell += char;
        at += 1;
      } else is_quoted = false;
    } else if (char === '"' && cell === '') is_quoted = true;
    else if (char === delimiter) {
      row.push(cell);
      cell = '';
    } else if (char === '\n' || char === '\r') endRow();
    else cell += char;
  }
  if (rows.length < max) endRow();
  return rows.slice(0, max);
}

/** Rows as a table that is read as one of ours. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  const guarded = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell);
  return rows
    .map((row) => `${row.map((cell) => `"${guarded(cell).replaceAll('"', '""')}"`).join(',')}\n`)
    .join('');
}
