/**
 * The work of an import, in pieces. A piece commits its contacts, its rejected rows, the counters and the
 * place where the next one begins together: however it is cut off, every row counts once.
 */

import { AppError } from '../../errors.ts';
import type { Objects } from '../../files/objects/service.ts';
import { MAX_ADDRESS_CHARS } from '../../limits.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { letOthers, PieceSize } from '../../platform/host/waiting.ts';
import { readCell } from '../../platform/http/csv.ts';
import type { Candidate, Contacts, Screened } from '../contacts/service.ts';
import type { ListRow, Lists } from '../lists/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import { type Columns, candidateOf, cellsOf, PASTED_COLUMNS, unknownWordsIn } from './columns.ts';
import { type CsvFile, type Dialect, MissingFile, readCsvRows, UnreadableCsv } from './csv-rows.ts';
import { type Counters, countersOf } from './records.ts';
import type { ImportPosition, WaitingFields } from './schemas.ts';
import * as store from './store.ts';
import type { ImportRow } from './tables.ts';

/** After this long without an answer an import ends as failed; it can be resumed. */
const IMPORT_DNS_GIVE_UP_MS = 24 * 3_600_000;

/** Rows that are looked up and judged together; no transaction takes more. */
const IMPORT_SCREEN_ROWS = 200;
/** Rows of the first transaction of an import. */
const IMPORT_COMMIT_ROWS = 50;
/** Of these, rows whose address leaves: whatever it is in hears of it. */
const IMPORT_COMMIT_LEAVES = 5;
/** So many are told of what stands in place of a status. */
const MAX_UNKNOWN_WORDS = 20;
/** Rows that wait for an answer of the DNS are tried again after this long, doubling up to the other. */
const IMPORT_DNS_RETRY_MIN_MS = 60_000;
const IMPORT_DNS_RETRY_MAX_MS = 30 * 60_000;

/** How a run of an import stopped: at its end, or to go on later. */
export type ImportPause =
  | { status: 'completed' }
  | { status: 'failed'; error: string }
  /** This many rows were read; the rest follows when the rate allows. */
  | { status: 'more'; rows: number }
  /** Rows wait for the DNS. */
  | { status: 'waiting'; run_at: number }
  /** Another run goes on with it, or has ended it. */
  | { status: 'superseded' }
  | { status: 'cancelled' };

export interface ImportRunDeps {
  database: Database;
  clock: Clock;
  contacts: Contacts;
  lists: Lists;
  objects: Pick<Objects, 'findMany' | 'chunksOf'>;
  /** Called in the transaction that ends an import well. */
  onCompleted(tx: Tx, row: ImportRow): void;
}

/** The bytes of an object of the project; null when it is gone or another's. */
export function findFile(
  { objects, database }: Pick<ImportRunDeps, 'objects' | 'database'>,
  project_id: number,
  public_id: string,
): { open: CsvFile; is_public: boolean } | null {
  const [object] = objects.findMany(database.read, project_id, [public_id]);
  return object
    ? { open: (from) => objects.chunksOf(object, from), is_public: object.visibility === 'public' }
    : null;
}

export interface RunLimits {
  /** Rows to take up at most. */
  rows: number;
  /** True leaves the rest for later, at the next piece. */
  shouldStop(): boolean;
}

/** The import was deleted, has ended, or is run by somebody else: this run stops. */
class Superseded extends Error {}

interface Row {
  row_number: number;
  fields: WaitingFields;
  /** The byte at which the next row begins; null for a row that is in the database already. */
  end_byte: number | null;
}

interface Judged {
  row: Row;
  screened: Screened;
}

export class ImportRun {
  readonly #size = new PieceSize(IMPORT_COMMIT_ROWS, IMPORT_SCREEN_ROWS);
  #import: ImportRow;

  private constructor(
    private readonly deps: ImportRunDeps,
    private readonly owner: KeyOwner,
    row: ImportRow,
    private list: ListRow,
  ) {
    this.#import = row;
  }

  /** Goes on with an import until it ends, its limits are reached, or all that is left waits for the DNS. */
  static async advance(
    deps: ImportRunDeps,
    owner: KeyOwner,
    id: string,
    limits: RunLimits,
  ): Promise<ImportPause> {
    const row = store.rows.findById(deps.database.read, id);
    const list = row && deps.lists.findById(row.list_id);
    if (!row || !list) return { status: 'failed', error: 'The list or the import was deleted.' };
    if (row.status === 'completed') return { status: 'completed' };
    if (row.status === 'cancelled') return { status: 'cancelled' };
    if (row.status === 'failed') return { status: 'failed', error: row.error ?? '' };
    const run = new ImportRun(deps, owner, row, list);
    try {
      return await run.#advance(limits);
    } catch (error) {
      if (error instanceof Superseded) {
        const is_cancelled = store.rows.findById(deps.database.read, id)?.status === 'cancelled';
        return { status: is_cancelled ? 'cancelled' : 'superseded' };
      }
      const reason = reasonOf(error);
      if (reason === null) throw error;
      await run.#end({ status: 'failed', error: reason });
      return { status: 'failed', error: reason };
    }
  }

  async #advance(limits: RunLimits): Promise<ImportPause> {
    await this.#begin();
    const taken = await this.#readFile(limits);
    if (!this.#import.position.is_file_done) return { status: 'more', rows: taken };
    const retried = await this.#retryWaiting({ ...limits, rows: limits.rows - taken });
    if (retried.is_cut) return { status: 'more', rows: taken + retried.rows };
    const waiting = store.countWaiting(this.deps.database.read, this.#import.id);
    if (waiting === 0) {
      await this.#end({ status: 'completed', error: null });
      return { status: 'completed' };
    }
    return this.#waitForDns(waiting);
  }

  async #begin(): Promise<void> {
    const { status, total_rows } = this.#import;
    const counted = total_rows ?? (await this.#countRows());
    if (status === 'processing' && total_rows !== null) return;
    await this.#write(() => ({
      status: 'processing',
      total_rows: counted,
      started_at: this.#import.started_at ?? this.deps.clock.now(),
    }));
  }

  async #countRows(): Promise<number> {
    // The first of them is where the header ends: none has been taken up yet.
    let rows = 0;
    for await (const _ of readCsvRows(this.#file(), this.#dialect())) rows += 1;
    return rows;
  }

  /** How the file goes on from where this import is. */
  #dialect(): Dialect {
    const { position, settings } = this.#import;
    return { from_byte: position.byte, delimiter: settings.delimiter };
  }

  #file(): CsvFile {
    const { project_id, object_public_id } = this.#import;
    const file = object_public_id === null ? null : findFile(this.deps, project_id, object_public_id);
    if (!file) throw new MissingFile('the object is gone');
    return file.open;
  }

  /** Takes up rows of the file; returns how many. */
  async #readFile(limits: RunLimits): Promise<number> {
    if (this.#import.position.is_file_done) return 0;
    let taken = 0;
    let row_number = this.#import.position.row;
    let rows: Row[] = [];
    for await (const { cells, end_byte } of readCsvRows(this.#file(), this.#dialect())) {
      row_number += 1;
      rows.push({ row_number, fields: { cells: this.#wantedOf(cells) }, end_byte });
      taken += 1;
      const is_cut = taken >= limits.rows;
      if (rows.length < IMPORT_SCREEN_ROWS && !is_cut) continue;
      await letOthers(); // Reading so many has taken its time.
      await this.#take(rows);
      rows = [];
      if (is_cut || limits.shouldStop()) return taken;
    }
    if (rows.length > 0) await this.#take(rows);
    await this.#write(({ position }) => ({ position: { ...position, is_file_done: true } }));
    return taken;
  }

  /** Only the cells that are needed, in their places. All cells of long rows would fill the memory. */
  #wantedOf(cells: readonly string[]): string[] {
    const { fields, kept, statuses } = this.#import.settings.columns;
    const wanted: string[] = new Array(cells.length).fill('');
    const told = statuses.map(({ place }) => place);
    for (const place of [...Object.values(fields), ...Object.values(kept), ...told])
      if (place !== undefined) wanted[place] = cells[place] ?? '';
    return wanted;
  }

  /** Asks the DNS again for the rows that wait; a paste is nothing but such rows. */
  async #retryWaiting(limits: RunLimits): Promise<{ rows: number; is_cut: boolean }> {
    let after_row = 0;
    let done = 0;
    for (;;) {
      if (done > 0 && (done >= limits.rows || limits.shouldStop())) return { rows: done, is_cut: true };
      const limit = Math.min(IMPORT_SCREEN_ROWS, Math.max(1, limits.rows - done));
      const waiting = store.listWaiting(this.deps.database.read, this.#import.id, after_row, limit);
      if (waiting.length === 0) return { rows: done, is_cut: false };
      await this.#take(waiting.map(({ row_number, fields }) => ({ row_number, fields, end_byte: null })));
      after_row = waiting.at(-1)?.row_number ?? after_row;
      done += waiting.length;
    }
  }

  async #take(rows: readonly Row[]): Promise<void> {
    const candidates = rows.map((row) => this.#candidateOf(row.fields));
    const screened = await this.deps.contacts.screen(this.owner, this.list, candidates);
    const judged = rows.flatMap((row, index): Judged[] => {
      const one = screened[index];
      return one ? [{ row, screened: one }] : [];
    });
    let piece: Judged[] = [];
    for (const one of judged) {
      piece.push(one);
      const leaves = piece.filter(leavesBy).length;
      if (piece.length < this.#size.next && leaves < IMPORT_COMMIT_LEAVES) continue;
      await this.#commit(piece);
      piece = [];
    }
    if (piece.length > 0) await this.#commit(piece);
  }

  #candidateOf(fields: WaitingFields): Candidate {
    const { defaults, is_test } = this.#import.settings;
    const now_ms = this.deps.clock.now();
    return { ...candidateOf(cellsOf(fields), this.#columnsOf(fields), defaults, now_ms), is_test };
  }

  #columnsOf(fields: WaitingFields): Columns {
    return 'cells' in fields ? this.#import.settings.columns : PASTED_COLUMNS;
  }

  /** As it stood in the file, with its name, where it is no longer than an address may be. */
  #addressOf(fields: WaitingFields, { email }: Candidate): string {
    const { columns } = this.#import.settings;
    const cell = 'cells' in fields ? readCell(fields.cells[columns.fields.email ?? 0] ?? '') : email;
    return cell.includes('<') && cell.length <= MAX_ADDRESS_CHARS ? cell : email.slice(0, MAX_ADDRESS_CHARS);
  }

  /** What is told of words that a piece has in place of a status. */
  #wordsWith(piece: readonly Judged[]): Pick<ImportRow, 'settings'> | null {
    const { settings } = this.#import;
    const found = piece.flatMap(({ row: { fields } }) =>
      unknownWordsIn(cellsOf(fields), this.#columnsOf(fields)),
    );
    const unknown_words = [...new Set([...settings.unknown_words, ...found])].slice(0, MAX_UNKNOWN_WORDS);
    return unknown_words.length > settings.unknown_words.length
      ? { settings: { ...settings, unknown_words } }
      : null;
  }

  async #commit(piece: readonly Judged[]): Promise<void> {
    const { lists, contacts } = this.deps;
    const { id, settings } = this.#import;
    await this.#write((current, tx) => {
      const list = lists.requireOpen(tx, this.list);
      const counters = { ...countersOf(current) };
      const passed = piece.flatMap(({ screened }) => (screened.verdict === 'passed' ? [screened] : []));
      const admissions = contacts.admit(tx, this.owner, list, passed, {
        status: 'active',
        update_existing: settings.update_existing,
      });
      const rejected: store.Rejected[] = [];
      const waiting: store.Waiting[] = [];
      const settled: number[] = [];
      let admitted = 0;
      for (const judged of piece) {
        const { row, screened } = judged;
        const leaves = leavesBy(judged);
        if (screened.verdict === 'waiting') {
          if (row.end_byte !== null)
            waiting.push({ import_id: id, row_number: row.row_number, fields: row.fields });
          continue;
        }
        const outcome =
          screened.verdict === 'rejected'
            ? screened.rejection
            : (admissions[admitted++]?.outcome ?? 'suppressed');
        counters[outcome] += 1;
        if (row.end_byte === null) settled.push(row.row_number);
        if (leaves) contacts.imported.leave(tx, { owner: this.owner, list, import_id: id }, leaves);
        if (isRejection(outcome) && !isForgotten(row.fields)) {
          const email = this.#addressOf(row.fields, screened.candidate);
          rejected.push({ import_id: id, row_number: row.row_number, email, reason: outcome });
        }
      }
      store.insertRejections(tx, rejected);
      store.insertWaiting(tx, waiting);
      if (settled.length > 0) store.deleteWaiting(tx, id, settled);
      return { ...counters, ...this.#wordsWith(piece), position: positionAfter(current.position, piece) };
    }, piece.length);
  }

  /** Changes the import, with so many rows of it, unless somebody else has changed it since this run saw it last. */
  async #write(change: (current: ImportRow, tx: Tx) => Partial<ImportRow>, rows = 0): Promise<void> {
    this.#import = await this.deps.database.writePiece((tx) => {
      const current = store.rows.findById(tx, this.#import.id);
      const { status, position } = this.#import;
      if (current?.status !== status || current.position.commits !== position.commits) throw new Superseded();
      const changes = this.#size.learn(
        () => change(current, tx),
        () => rows,
      );
      const { position: next = current.position } = changes;
      return store.updateImport(tx, current.id, {
        ...changes,
        position: { ...next, commits: next.commits + 1 },
      });
    });
  }

  async #waitForDns(waiting: number): Promise<ImportPause> {
    const now = this.deps.clock.now();
    const { waiting_since, dns_tries } = this.#import.position;
    const since = waiting_since ?? now;
    if (now - since >= IMPORT_DNS_GIVE_UP_MS) {
      const error = `The DNS gave no answer about the domains of ${waiting} rows. Resume the import when it does.`;
      await this.#end({ status: 'failed', error });
      return { status: 'failed', error };
    }
    await this.#write(({ position }) => ({
      position: { ...position, waiting_since: since, dns_tries: dns_tries + 1 },
    }));
    const delay_ms = Math.min(IMPORT_DNS_RETRY_MIN_MS * 2 ** dns_tries, IMPORT_DNS_RETRY_MAX_MS);
    return { status: 'waiting', run_at: now + delay_ms };
  }

  #end(end: { status: 'completed' | 'failed'; error: string | null }): Promise<void> {
    return this.#write((current, tx) => {
      const ended = { ...end, finished_at: this.deps.clock.now() };
      if (end.status === 'completed') this.deps.onCompleted(tx, { ...current, ...ended });
      return ended;
    });
  }
}

function isRejection(outcome: keyof Counters): boolean {
  return outcome !== 'accepted' && outcome !== 'duplicate' && outcome !== 'updated_existing';
}

/** The addresses whose rows say that they left. */
function leavesBy({ screened }: Judged) {
  return screened.verdict === 'rejected' ? screened.leaves : undefined;
}

/** Emptied while it waited. */
function isForgotten(fields: WaitingFields): boolean {
  return 'email' in fields && fields.email === '';
}

function positionAfter(position: ImportPosition, piece: readonly Judged[]): ImportPosition {
  const last = piece.at(-1)?.row;
  if (!last || last.end_byte === null) return position;
  return { ...position, row: last.row_number, byte: last.end_byte };
}

/** Why an import ends here, or null for what is no fault of its file or list. */
function reasonOf(error: unknown): string | null {
  if (error instanceof MissingFile) return 'The CSV file is gone: its object was deleted or has expired.';
  if (error instanceof UnreadableCsv) return `The file cannot be read as CSV: ${error.message}.`;
  if (error instanceof AppError && (error.kind === 'conflict' || error.kind === 'not_found'))
    return error.message;
  return null;
}
