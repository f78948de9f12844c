/** Imports of contacts: starting one from a paste or a CSV file, showing it, resuming and cancelling it. */
import { conflict, type FieldErrors, invalid, notFound, refuseAll, toDo } from '../../errors.ts';
import { IMPORT_REQUEST_GRACE_MS, MAX_PASTED_ROWS, SWEEP_BATCH } from '../../limits.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Beside } from '../../platform/host/beside.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { firstIdOf, newId } from '../../platform/host/ids.ts';
import type { ReadCsvTable } from '../../platform/http/csv.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { Records } from '../../platform/http/records.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import type { JobQueue } from '../../platform/jobs/engine.ts';
import { finishJob, type JobEnd, listWaitingJobs, PRIORITY } from '../../platform/jobs/store.ts';
import { type Contacts, readTags, SOURCE_PLATFORM } from '../contacts/service.ts';
import type { ConsentBasis, ListRow, Lists } from '../lists/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import { findColumns, type ImportDefaults } from './columns.ts';
import { type CsvFile, MissingFile, readCsvRows, readDialect, UnreadableCsv } from './csv-rows.ts';
import { READ_PASTE } from './paste.ts';
import { presentImport } from './records.ts';
import { rejectedTable } from './rejected.ts';
import { findFile, type ImportPause, ImportRun, type ImportRunDeps, type RunLimits } from './run.ts';
import type { Delimiter, ImportPosition, ImportRecord } from './schemas.ts';
import * as store from './store.ts';
import type { ImportRow } from './tables.ts';

export { DELIMITERS, type ImportRecord } from './schemas.ts';

/** Contract: rows of a CSV file that are imported within the request. */
const IMPORT_ROWS_IN_REQUEST = 500;
/** Addresses of rejected rows are of people who are on no list: they go after this long. */
const IMPORT_REJECTIONS_RETENTION_MS = 90 * 86_400_000;

/** The type of the jobs that go on with imports. */
export const EMAIL_IMPORT = 'email.import';

/** How soon after the start an import goes on whose request was cut off. */
const IMPORT_SOON_MS = 5_000;

interface DefaultsInput {
  consent_basis?: ConsentBasis | null | undefined;
  source_platform?: string | null | undefined;
  tags?: string[] | null | undefined;
}

interface CsvInput {
  object: string;
  column_map?: Record<string, string> | null | undefined;
  keep_columns?: string[] | null | undefined;
  defaults?: DefaultsInput | null | undefined;
  update_existing?: boolean | null | undefined;
  /** Null: found. */
  delimiter?: Delimiter | null | undefined;
}

/** The starter of an import: an API key, and a test key. */
interface Starter {
  is_paced: boolean;
  is_test: boolean;
}

export interface ImportsDeps extends JobQueue {
  database: Database;
  clock: Clock;
  contacts: Contacts;
  lists: Lists;
  beside: Pick<Beside, 'do'>;
  objects: ImportRunDeps['objects'];
  /** Of those that API keys start. */
  rows_per_minute: number;
}

const NO_LIMITS: RunLimits = { rows: Number.POSITIVE_INFINITY, shouldStop: () => false };

type CompletedListener = (tx: Tx, project_id: number, completed: ImportRecord) => void;

export class Imports extends Records<ImportRow, ImportRecord> {
  readonly #listeners: CompletedListener[] = [];

  constructor(private readonly deps: ImportsDeps) {
    super({ ...deps, rows: store.rows, noun: 'Import' });
  }

  /** Adds a listener for each completed import, called in the transaction that ends it. */
  listen(listener: CompletedListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Imports what was pasted within the request. Rows whose domain the DNS gives no answer about wait, and the
   * import stays `processing`. Throws AppError `invalid` by field, and `conflict` (list_archived).
   */
  async paste(
    owner: KeyOwner,
    list: ListRow,
    input: { text: string; defaults?: DefaultsInput | null | undefined },
    { note, ...starter }: Starter & { note: Note },
  ): Promise<ImportRecord> {
    const beside = { project_id: owner.id, field: 'text' };
    const { rows, columns, first_row } = await this.deps.beside.do(beside, READ_PASTE, input.text);
    const errors: FieldErrors = {};
    const defaults = readDefaults(input.defaults ?? {}, 'paste', errors);
    if (rows.length === 0) errors.text = ['must hold at least one address'];
    if (rows.length > MAX_PASTED_ROWS)
      errors.text = [`at most ${MAX_PASTED_ROWS} rows: import a CSV file instead`];
    refuseAll(errors);
    const started = await this.#start(owner, list, {
      method: 'paste',
      object_public_id: null,
      settings: { columns, defaults, update_existing: false, unknown_words: [], delimiter: ',', ...starter },
      position: { ...START, row: rows.length, is_file_done: true },
      total_rows: rows.length,
      is_in_request: true,
      waiting: rows.map((fields, index) => ({ row_number: first_row + index, fields })),
      note,
    });
    return this.#finishInRequest(owner, started);
  }

  /**
   * Imports a CSV file: up to 500 rows within the request, more in the background (`is_done` tells). Throws
   * AppError `invalid` by field for what is no CSV with addresses or a public object, `not_found`, and
   * `conflict` (list_archived).
   */
  async csv(
    owner: KeyOwner,
    list: ListRow,
    input: CsvInput,
    { note, ...starter }: Starter & { note: Note },
  ): Promise<{ record: ImportRecord; is_done: boolean }> {
    const errors: FieldErrors = {};
    const defaults = readDefaults(input.defaults ?? {}, 'csv', errors);
    const object = input.object.toUpperCase();
    const requireFile = (): { open: CsvFile } => {
      const file = findFile(this.deps, owner.id, object);
      if (!file) throw notFound('Object');
      if (file.is_public) errors.object = ['must be private: anybody may read this one'];
      refuseAll(errors);
      return file;
    };
    const file = requireFile();
    const head = await readHead(file.open, input.delimiter ?? null).catch((error: unknown) => {
      requireFile();
      throw error;
    });
    const column_map = input.column_map ?? null;
    const columns = findColumns(head.headers, { column_map, keep_columns: input.keep_columns ?? null });
    const started = await this.#start(owner, list, {
      method: 'csv',
      object_public_id: object,
      settings: {
        columns,
        defaults,
        update_existing: input.update_existing ?? false,
        unknown_words: [],
        delimiter: head.delimiter,
        ...starter,
      },
      position: { ...START, row: 1, byte: head.end_byte },
      total_rows: head.is_short ? head.rows : null,
      is_in_request: head.is_short,
      waiting: [],
      note,
      // While its head was being read the object may have been deleted or made public.
      check: requireFile,
    });
    if (!head.is_short) return { record: this.present(started, list.public_id), is_done: false };
    return { record: await this.#finishInRequest(owner, started), is_done: true };
  }

  /** Imports of a list, newest first. */
  list(list: ListRow, query: PageQuery): Page<ImportRecord> {
    const { read } = this.deps.database;
    return paginate(query, {
      total: store.countImports(read, { list_id: list.id }),
      fetch: (limit, offset) => store.listImports(read, list.id, limit, offset),
    }).map((row) => this.present(row, list.public_id));
  }

  /** How many go with a project. */
  projectCascade() {
    return {
      count: (tx: Tx, project: { id: number }) => ({
        email_imports: store.countImports(tx, { project_id: project.id }),
      }),
    };
  }

  /** As `requireAny`, as clients see it. */
  show(id: string): ImportRecord {
    return this.present(this.requireAny(id));
  }

  /** As `require`. Throws AppError `conflict` for one that goes on. */
  requireEnded(project_id: number, id: string): ImportRow {
    const row = this.require(project_id, id);
    if (row.status === 'pending' || row.status === 'processing')
      throw conflict(
        `The import is ${row.status}: wait for its end, or cancel it first (satchel import cancel ${row.id}).`,
        { remedy: toDo('import', `satchel import cancel ${row.id}`, row.id) },
      );
    return row;
  }

  /** The rows that were not taken, as a table. Throws AppError `not_found`. */
  rejected(project_id: number, id: string): Promise<ReadCsvTable> {
    const row = this.require(project_id, id);
    const file = row.object_public_id === null ? null : findFile(this.deps, project_id, row.object_public_id);
    return rejectedTable(this.deps.database.read, row, file?.open ?? null);
  }

  /**
   * Resumes a failed CSV import where it stopped. Throws AppError `not_found`, and `conflict` where there is
   * nothing to resume.
   */
  async resume(project_id: number, id: string, note: Note): Promise<ImportRecord> {
    const row = await this.deps.database.write((tx) => {
      const current = this.require(project_id, id, tx);
      if (current.method !== 'csv' || current.status !== 'failed')
        throw conflict(`Only a failed CSV import can be resumed: this one is ${current.status}.`);
      const list = this.deps.lists.findById(current.list_id, tx);
      if (!list) throw notFound('List');
      this.deps.lists.requireOpen(tx, list);
      const { commits } = current.position;
      const position = { ...current.position, commits: commits + 1, waiting_since: null, dns_tries: 0 };
      const job_id = this.#enqueue(tx, current, undefined);
      note(tx, { event: 'import.resumed', target: `import:${current.id}`, metadata: { name: list.name } });
      return store.updateImport(tx, id, {
        status: 'pending',
        error: null,
        finished_at: null,
        position,
        job_id,
      });
    });
    return this.present(row);
  }

  /**
   * Ends an import that has not ended, for good: what was taken stays. Throws AppError `not_found`, and
   * `conflict` where there is nothing to cancel.
   */
  async cancel(project_id: number, id: string, note: Note): Promise<ImportRecord> {
    const { database, clock } = this.deps;
    const row = await database.write((tx) => {
      const { status, position, job_id, ...current } = this.require(project_id, id, tx);
      if (status !== 'pending' && status !== 'processing')
        throw conflict(`There is nothing to cancel: the import is ${status}.`);
      const now = clock.now();
      if (job_id !== null) finishJob(tx, job_id, endOf(current.id, { status: 'cancelled' }), now);
      const name = this.deps.lists.findById(current.list_id, tx)?.name;
      note(tx, { event: 'import.cancelled', target: `import:${current.id}`, metadata: { name } });
      return store.updateImport(tx, current.id, {
        status: 'cancelled',
        finished_at: now,
        // A run that is under way sees by this that it is out of date.
        position: { ...position, commits: position.commits + 1 },
      });
    });
    await this.#forgetWaiting(row.id);
    return this.present(row);
  }

  /** Rows of an ended import that wait for the DNS wait for nothing. */
  async #forgetWaiting(id: string): Promise<void> {
    const { database } = this.deps;
    while ((await database.writePiece((tx) => store.deleteSomeWaiting(tx, id, SWEEP_BATCH))) === SWEEP_BATCH);
  }

  /** At which rate an import goes on; null: as fast as it can. */
  rowsPerMinute(id: string): number | null {
    const row = store.rows.findById(this.deps.database.read, id);
    return row?.settings.is_paced ? this.deps.rows_per_minute : null;
  }

  /**
   * As the server starts, no request is at work any more: what one was cut off from goes on by its job, a
   * moment later. What waits for the DNS keeps its time.
   */
  async goOnSoon(): Promise<void> {
    const { database, clock, hasten } = this.deps;
    const soon_ms = clock.now() + IMPORT_SOON_MS;
    const late = listWaitingJobs(database.read, EMAIL_IMPORT, soon_ms).filter(({ payload }) => {
      const id = isPlainObject(payload) ? String(payload.import_id) : '';
      return store.rows.findById(database.read, id)?.position.waiting_since === null;
    });
    if (late.length === 0) return;
    await database.write((tx) => {
      for (const { id } of late) hasten(tx, id, soon_ms);
    });
  }

  /** Records an unexpected failure of its job, within the transaction; the import can be resumed. */
  abandon(tx: Tx, id: string): void {
    const row = store.rows.findById(tx, id);
    if (row?.status !== 'pending' && row?.status !== 'processing') return;
    const error = 'Something went wrong on the server.';
    store.updateImport(tx, id, { status: 'failed', error, finished_at: this.deps.clock.now() });
  }

  /** Goes on with an import for its job; see ImportRun. */
  advance(owner: KeyOwner, id: string, limits: RunLimits): Promise<ImportPause> {
    const onCompleted = (tx: Tx, row: ImportRow): void => {
      for (const listener of this.#listeners) listener(tx, row.project_id, this.present(row));
    };
    return ImportRun.advance({ ...this.deps, onCompleted }, owner, id, limits);
  }

  /**
   * Deletes the rejected rows of old imports, and waiting rows that a crash left when their import was
   * cancelled.
   */
  async sweep(): Promise<void> {
    const { database, clock } = this.deps;
    for (const id of store.listCancelledThatWait(database.read)) await this.#forgetWaiting(id);
    const before_id = firstIdOf(clock.now() - IMPORT_REJECTIONS_RETENTION_MS);
    while (
      (await database.writePiece((tx) => store.deleteOldRejections(tx, before_id, SWEEP_BATCH))) ===
      SWEEP_BATCH
    );
  }

  #start(
    owner: KeyOwner,
    list: ListRow,
    wanted: Pick<ImportRow, 'method' | 'object_public_id' | 'settings' | 'position' | 'total_rows'> & {
      is_in_request: boolean;
      waiting: readonly Omit<store.Waiting, 'import_id'>[];
      note: Note;
      check?: () => void;
    },
  ): Promise<ImportRow> {
    const { is_in_request, waiting, note, check = () => {}, ...fields } = wanted;
    return this.deps.database.write((tx) => {
      check();
      this.deps.lists.requireOpen(tx, list);
      const now = this.deps.clock.now();
      const row: ImportRow = {
        ...fields,
        id: newId(now),
        project_id: owner.id,
        list_id: list.id,
        job_id: null,
        status: 'pending',
        accepted: 0,
        duplicate: 0,
        invalid_syntax: 0,
        no_mx: 0,
        suppressed: 0,
        missing_consent: 0,
        updated_existing: 0,
        error: null,
        created_at: now,
        started_at: null,
        finished_at: null,
      };
      // Should the server die within the request, the job goes on with it.
      row.job_id = this.#enqueue(tx, row, is_in_request ? now + IMPORT_REQUEST_GRACE_MS : undefined);
      store.insertImport(tx, row);
      const metadata = { name: list.name, list: list.public_id, method: row.method };
      note(tx, { event: 'import.started', target: `import:${row.id}`, metadata });
      store.insertWaiting(
        tx,
        waiting.map((each) => ({ ...each, import_id: row.id })),
      );
      return row;
    });
  }

  async #finishInRequest(owner: KeyOwner, row: ImportRow): Promise<ImportRecord> {
    const pause = await this.advance(owner, row.id, NO_LIMITS);
    const { database, clock } = this.deps;
    const { job_id } = row;
    if (job_id !== null && (pause.status === 'completed' || pause.status === 'failed'))
      await database.write((tx) => finishJob(tx, job_id, endOf(row.id, pause), clock.now()));
    return this.get(owner.id, row.id);
  }

  #enqueue(tx: Tx, row: Pick<ImportRow, 'id' | 'project_id'>, run_at: number | undefined): string {
    return this.deps.enqueue(tx, {
      project_id: row.project_id,
      type: EMAIL_IMPORT,
      priority: PRIORITY.background,
      payload: { import_id: row.id },
      max_attempts: 1,
      ...(run_at === undefined ? {} : { run_at }),
    });
  }

  present(row: ImportRow, list_public_id = this.deps.lists.findById(row.list_id)?.public_id): ImportRecord {
    if (list_public_id === undefined) throw notFound('Import');
    const { rows_per_minute, clock } = this.deps;
    return presentImport(row, list_public_id, { rows_per_minute, now_ms: clock.now() });
  }
}

const START: ImportPosition = {
  commits: 0,
  row: 0,
  byte: 0,
  is_file_done: false,
  waiting_since: null,
  dns_tries: 0,
};

/** The end of an import as that of its job. */
export function endOf(
  import_id: string,
  pause: Extract<ImportPause, { status: 'completed' | 'failed' | 'cancelled' }>,
): JobEnd {
  const result = { import_id };
  if (pause.status === 'completed') return { status: 'completed', result, error: null };
  return { status: 'failed', result, error: pause.status === 'failed' ? pause.error : 'It was cancelled.' };
}

function readDefaults(input: DefaultsInput, method: 'paste' | 'csv', errors: FieldErrors): ImportDefaults {
  const source_platform = input.source_platform ?? method;
  if (!SOURCE_PLATFORM.test(source_platform))
    errors['defaults.source_platform'] = ['must be a lowercase slug, such as shop or newsletter-2030'];
  return {
    consent_basis: input.consent_basis ?? null,
    source_platform,
    tags: readTags(input.tags ?? [], 'defaults.tags', errors),
  };
}

/** What Excel has. */
const MAX_CSV_COLUMNS = 16_384;

/**
 * Reads the header of a file, and whether the request can import it all. Throws AppError `invalid` under
 * `object`.
 */
async function readHead(
  file: CsvFile,
  wanted: Delimiter | null,
): Promise<{
  headers: string[];
  delimiter: Delimiter;
  end_byte: number;
  rows: number;
  is_short: boolean;
}> {
  let head: { headers: string[]; end_byte: number } | null = null;
  let rows = 0;
  let delimiter: Delimiter = ',';
  try {
    const dialect = await readDialect(file, wanted);
    delimiter = dialect.delimiter;
    for await (const { cells, end_byte } of readCsvRows(file, dialect)) {
      if (cells.length > MAX_CSV_COLUMNS)
        throw new UnreadableCsv(`it has more than ${MAX_CSV_COLUMNS} columns`);
      if (head === null) head = { headers: cells, end_byte };
      else rows += 1;
      if (rows > IMPORT_ROWS_IN_REQUEST) break;
    }
  } catch (error) {
    if (error instanceof MissingFile) throw notFound('Object');
    if (error instanceof UnreadableCsv) throw invalid({ object: [`is no CSV file: ${error.message}`] });
    throw error;
  }
  if (!head) throw invalid({ object: ['is an empty file: the first row must hold the headers'] });
  return { ...head, delimiter, rows, is_short: rows <= IMPORT_ROWS_IN_REQUEST };
}
