/**
 * Reads a CSV file row by row, from any row on: RFC 4180, UTF-8 with or without BOM, any line ends, ragged
 * rows.
 */
import { parse } from 'csv-parse';
import { errorCodeOf } from '../../errors.ts';
import { DELIMITERS, type Delimiter } from './schemas.ts';

/** One row of a CSV file: more is a quote that is never closed. */
const MAX_CSV_ROW_BYTES = 128 * 1024;

/** Bytes of a CSV file that are read and parsed at once: a few hundred rows, so that nobody waits long. */
const CSV_PIECE_BYTES = 16 * 1024;

const TOO_LONG = `it has a row longer than ${MAX_CSV_ROW_BYTES} bytes; a quote may never be closed`;

/** One row with the place after it, from which the next reading may begin. */
interface CsvRow {
  cells: string[];
  /** Bytes from the beginning of the file to the end of this row. */
  end_byte: number;
}

/** The file is no CSV that can be read: what is wrong with it, and where. */
export class UnreadableCsv extends Error {}

/** The file is gone or cannot be opened. */
export class MissingFile extends Error {}

/** The bytes of a file from one on. */
export type CsvFile = (from: number) => AsyncIterable<Uint8Array>;

/** Where the rows of a file begin, the header first, and what stands between cells. */
export interface Dialect {
  delimiter: Delimiter;
  from_byte: number;
}

/** A line that spreadsheets write before the header, for one another: `sep=;`. */
const SEP_LINE = /^\ufeff?"?sep=(.)"?(?:\r\n|\n|\r)/i;

/**
 * How a file is written: with the delimiter that is wanted, else the one that its `sep=` line names, else the
 * one that its header has most of outside of quotes. Throws MissingFile.
 */
export async function readDialect(file: CsvFile, wanted: Delimiter | null): Promise<Dialect> {
  const bytes = await readStart(file).catch((error: unknown) => {
    throw explain(error);
  });
  const head = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const [sep_line = '', sep] = SEP_LINE.exec(head) ?? [];
  const delimiter =
    wanted ?? DELIMITERS.find((each) => each === sep) ?? commonest(head.slice(sep_line.length));
  return { delimiter, from_byte: Buffer.byteLength(sep_line) };
}

/** The header is a row, and so has no more. */
async function readStart(file: CsvFile): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file(0)) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= MAX_CSV_ROW_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_CSV_ROW_BYTES);
}

/** The delimiter that the first row has most of, outside of quotes. */
export function commonest(text: string): Delimiter {
  const [header = ''] = text
    .replace(/"(?:[^"]|"")*"/g, '')
    .trimStart()
    .split(/[\r\n]/, 1);
  const countOf = (delimiter: Delimiter): number => header.split(delimiter).length;
  return DELIMITERS.reduce((most, each) => (countOf(each) > countOf(most) ? each : most));
}

const CSV = {
  bom: true,
  info: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  relax_quotes: true,
  skip_empty_lines: true,
  max_record_size: MAX_CSV_ROW_BYTES,
};

/**
 * Rows of the file from a byte on at which a row begins. Memory stays the same for any size. Throws
 * MissingFile, and UnreadableCsv for what is no UTF-8, holds NUL, or has a row longer than any (a quote that
 * is never closed, mostly).
 */
export async function* readCsvRows(open: CsvFile, { from_byte, delimiter }: Dialect): AsyncGenerator<CsvRow> {
  const parser = parse({ ...CSV, delimiter });
  const reading = feed(open(from_byte), parser);
  // Awaited below; without this a failure until then would count as unhandled.
  reading.catch(() => {});
  try {
    for await (const { record, info } of parser) yield { cells: record, end_byte: from_byte + info.bytes };
    await reading;
  } catch (error) {
    throw explain(error);
  } finally {
    parser.destroy();
  }
}

/** Hands the file on to the parser, as UTF-8 alone. */
async function feed(file: AsyncIterable<Uint8Array>, parser: ReturnType<typeof parse>): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let written = 0;
  const ended = { rows: 0, at: 0 };
  try {
    for await (const chunk of file) {
      if (parser.destroyed) return;
      if (chunk.includes(0)) throw new UnreadableCsv('it holds NUL bytes: save it as CSV in UTF-8');
      decoder.decode(chunk, { stream: true });
      for (let at = 0; at < chunk.byteLength; at += CSV_PIECE_BYTES) {
        const piece = chunk.subarray(at, at + CSV_PIECE_BYTES);
        const is_taken = parser.write(piece);
        if (!is_taken) await untilTaken(parser);
        if (parser.destroyed) return;
        written += piece.byteLength;
        // The parser's own bound does not count what stands between cells.
        const rows = parser.info.records + parser.info.empty_lines;
        if (rows > ended.rows) Object.assign(ended, { rows, at: written });
        else if (written - ended.at > MAX_CSV_ROW_BYTES) throw new UnreadableCsv(TOO_LONG);
      }
    }
    decoder.decode();
    parser.end();
  } catch (error) {
    parser.destroy(explain(error));
    throw error;
  }
}

/** Whoever has read enough ends the parser, which takes nothing any more. */
function untilTaken(parser: ReturnType<typeof parse>): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      parser.off('drain', end).off('close', end);
      resolve();
    };
    parser.on('drain', end).on('close', end);
  });
}

function explain(error: unknown): Error {
  if (error instanceof UnreadableCsv || error instanceof MissingFile) return error;
  if (!(error instanceof Error)) return new UnreadableCsv(String(error));
  const code = errorCodeOf(error) ?? '';
  if (code === 'ENOENT') return new MissingFile(error.message);
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA' || error instanceof TypeError)
    return new UnreadableCsv('it is not UTF-8: save it as CSV in UTF-8');
  if (code === 'CSV_MAX_RECORD_SIZE') return new UnreadableCsv(TOO_LONG);
  return code.startsWith('CSV_') ? new UnreadableCsv(error.message) : error;
}
