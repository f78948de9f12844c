/** Addresses as people paste them: one or several a line, with a name before or behind; read beside the server. */
import { CsvError, parse } from 'csv-parse/sync';
import { MAX_PASTED_ROWS } from '../../limits.ts';
import type { Task } from '../../platform/host/beside.ts';
import { type NamedAddress, readName, trimUnseen } from './addresses.ts';
import { type Columns, columnsOf, NO_COLUMNS } from './columns.ts';
import { commonest } from './csv-rows.ts';
import { fatesOf, recogniseFields } from './headers.ts';
import type { WaitingFields } from './schemas.ts';

/** Fifty columns have some 1,000. */
const MAX_HEADER_CHARS = 10_000;

export interface Paste {
  rows: WaitingFields[];
  columns: Columns;
  /** The number of the first row: a header is row 1. */
  first_row: number;
}

/**
 * One row for each address, and one for each text that should be an address; of a table, whose first line names a column of
 * addresses, one for each line below it. Stops once there are too many.
 */
export function readPaste(text: string): Paste {
  return readTable(text) ?? { rows: readLines(text), columns: NO_COLUMNS, first_row: 1 };
}

/** As spreadsheets copy cells, or a file that was pasted. Null for what has no such header. */
function readTable(text: string): Paste | null {
  const [head = ''] = text.trimStart().split(/[\r\n]/, 1);
  // The line alone decides, and a long one is none: reading all of a text that is no table takes seconds.
  if (head.includes('@') || head.length > MAX_HEADER_CHARS) return null;
  const delimiter = commonest(head);
  const fields = recogniseFields(readCells(head, delimiter)[0] ?? []);
  if (!fields.includes('email')) return null;
  const [headers = [], ...rows] = readCells(text.trimStart(), delimiter);
  return {
    rows: rows.map((cells) => ({ cells })),
    columns: columnsOf(fatesOf(headers, fields)),
    first_row: 2,
  };
}

/** As spreadsheets quote cells; where a quotation mark is left open, it is a character as others are. */
function readCells(text: string, delimiter: string): string[][] {
  const options = {
    delimiter,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    to: MAX_PASTED_ROWS + 2,
  };
  try {
    return parse(text, options);
  } catch (error) {
    if (error instanceof CsvError) return parse(text, { ...options, quote: null });
    throw error;
  }
}

function readLines(text: string): NamedAddress[] {
  const rows: NamedAddress[] = [];
  for (const given of text.split(/\r\n|\n|\r/)) {
    const line = trimUnseen(given);
    if (line === '') continue;
    for (const row of line.includes('<') ? readNamed(line) : readPlain(line)) rows.push(row);
    if (rows.length > MAX_PASTED_ROWS) break;
  }
  return rows;
}

/** `Ann Smith <ann@example.com>, "Smith, Bob" <bob@example.com>; Lee, Eve <eve@example.com>, fay@example.com` */
function readNamed(line: string): NamedAddress[] {
  const rows: NamedAddress[] = [];
  let before = '';
  for (const [part] of line.matchAll(/"[^"]*"|<[^<>]*>|[^"<;]+|["<;]/g)) {
    if (part === ';') {
      rows.push(...readPlain(before));
      before = '';
    } else if (part.endsWith('>') && part.startsWith('<')) {
      // Addresses without a name may stand before the name, which may have a comma itself, or be the address.
      const email = trimUnseen(part.slice(1, -1));
      const pieces = (before.match(/(?:"[^"]*"|[^,])+/g) ?? []).map(splitAddresses);
      const bare = pieces.filter((words) =>
        words.every((word) => isLikeAddress(word) && !/^["']/.test(word)),
      );
      const name = pieces.filter((words) => !bare.includes(words)).join(',');
      rows.push(
        ...bare
          .flat()
          .filter((word) => word !== email)
          .map(unnamed),
        { email, ...readName(name) },
      );
      before = '';
    } else before += part;
  }
  return [...rows, ...readPlain(before)];
}

/** `ann@example.com, Ann, Smith` is one person; `ann@example.com; bob@example.com` are two. */
function readPlain(line: string): NamedAddress[] {
  const cells = line.includes('"') ? (readCells(line, commonest(line))[0] ?? []) : line.split(/[,;\t]/);
  const [first = '', ...others] = cells.flatMap(splitAddresses);
  if (isLikeAddress(first) && others.length <= 2 && !others.some(isLikeAddress)) {
    return [{ email: first, first_name: others[0] ?? null, last_name: others[1] ?? null }];
  }
  return [first, ...others].filter((cell) => cell !== '').map(unnamed);
}

/** Blanks between addresses separate them; any other blank belongs to a name. */
function splitAddresses(cell: string): string[] {
  const words = trimUnseen(cell).split(/\s+/).map(trimUnseen);
  return (words.every(isLikeAddress) ? words : [words.join(' ')]).filter((word) => word !== '');
}

const isLikeAddress = (text: string): boolean => text.includes('@');

const unnamed = (email: string): NamedAddress => ({ email, first_name: null, last_name: null });

export const READ_PASTE: Task<string, Paste> = { name: 'import: read a paste', run: readPaste };
