/** The database: opening it with the right settings, reading, and `write()`, the only way to change rows. */

import { Database as Sqlite, type Statement } from 'bun:sqlite';
import { AsyncLocalStorage } from 'node:async_hooks';
import { chmodSync } from 'node:fs';
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite';
import { AppError, notFound } from '../../errors.ts';
import { BUSY_TIMEOUT_MS, DISK_RETRY_AFTER_S } from '../../limits.ts';
import { monotonicMs } from '../host/clock.ts';
import { DISK_BOUNDS_S, Histogram, Tally } from '../host/measures.ts';
import { diskFailureOf, sqliteErrorOf } from '../host/shortages.ts';
import { type FlushWorker, isSafeBesideCommits, WalFlusher } from './wal-flusher.ts';

/** Changes run for this long before they are committed and requests get a turn; one change is never cut. */
const WRITE_SLICE_MS = 1;
/** How often the log is looked at: what it holds of before goes with the second look. */
const LOG_LOOK_MS = 10_000;

/** A connection to query: in a `write()` it sees that transaction, `Database.read` sees what is committed. */
export type Tx = BunSQLiteDatabase<Record<string, never>> & { $client: Sqlite };

/** Makes `write()` refuse an asynchronous change at compile time: an await inside would commit half of it. */
type Refusal<T> = [T] extends [never]
  ? []
  : T extends PromiseLike<unknown>
    ? ['a change must be synchronous']
    : [];

export interface Database {
  /**
   * Committed state; refuses changes. The latest commits may still be on their way to disk (`settled`). Reads
   * in one turn of the event loop share a snapshot, because taking and releasing SQLite's locks costs more
   * than most reads. A commit of this connection ends it. Within a change, reads come from that change's
   * transaction.
   */
  readonly read: Tx;
  /**
   * Runs `change` in a savepoint of the next shared transaction, and resolves once its commit is on disk.
   * Changes of one turn of the event loop share a transaction and an fsync. A change that throws is undone
   * and rejects alone. Throws AppError `unavailable`, having kept nothing, when the disk is full or fails.
   */
  write<T>(change: (tx: Tx) => T, ...refusal: Refusal<T>): Promise<T>;
  /**
   * As `write()`, for a piece of long work that no request waits for. After each commit of changes one piece
   * follows, before changes that came meanwhile. So a change waits for one piece at most, and pieces go on
   * however many changes come.
   */
  writePiece<T>(change: (tx: Tx) => T, ...refusal: Refusal<T>): Promise<T>;
  /**
   * Runs `work`. Its first change runs `check` in its transaction just before; where that throws, it is not
   * made. So what was checked as a request came in still holds when it changes something.
   */
  guarded<T>(check: () => void, work: () => Promise<T>): Promise<T>;
  /** Null when all that `read` shows is on disk, else a promise that resolves once it is. */
  settled(): Promise<void> | null;
  readonly measures: DatabaseMeasures;
  /**
   * Has the log begin anew where it holds earlier states of pages, and cuts off what stands behind its end: it takes two calls
   * until what was deleted is out of the file. A server calls it by itself. Rejects as `write()` does.
   */
  tidyLog(): Promise<void>;
  /** Whether this connection has committed anything; a command then wakes the server. */
  hasWritten(): boolean;
  /** Commits what is queued, then closes. */
  close(): Promise<void>;
}

/** What was committed since the database was opened, and how long the disk took over each commit. */
export interface DatabaseMeasures {
  readonly counts: Tally<'commits' | 'changes'>;
  readonly syncs: Histogram;
}

interface Guard {
  check(): void;
  is_over: boolean;
}

interface QueuedChange {
  run(tx: Tx): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Opens one connection with the settings all of Satchel relies on, and makes sure they took. */
function openConnection(path: string, options: { query_only: boolean }): Sqlite {
  const sqlite = new Sqlite(path, { readwrite: true, create: false, strict: true });
  sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  sqlite.run('PRAGMA journal_mode = WAL');
  sqlite.run('PRAGMA synchronous = FULL');
  sqlite.run('PRAGMA foreign_keys = ON');
  sqlite.run('PRAGMA temp_store = MEMORY');
  // What is deleted is overwritten. Always, as pages that were changed without it keep copies of what moved elsewhere.
  sqlite.run('PRAGMA secure_delete = ON');
  // SQLite's own 2 MB hold less than what a commit of a busy server touches: it read a hundred pages again for each.
  sqlite.run('PRAGMA cache_size = -8000');
  // A WAL that one burst made large is cut back at the next checkpoint instead of keeping the disk space.
  sqlite.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  if (options.query_only) sqlite.run('PRAGMA query_only = ON');
  const pragma = (name: string): unknown => sqlite.query(`PRAGMA ${name}`).values()[0]?.[0];
  if (pragma('journal_mode') !== 'wal' || pragma('synchronous') !== 2 || pragma('foreign_keys') !== 1) {
    sqlite.close();
    throw new AppError('internal', `The database at ${path} does not accept WAL, FULL and foreign keys.`);
  }
  return sqlite;
}

/** What SQLite's own failures mean to a caller, of a read too; anything else is passed on as it is. */
export function explainFailure(error: unknown): unknown {
  const disk = diskFailureOf(error);
  if (disk !== null) {
    return new AppError('unavailable', `Nothing was stored: ${disk}. Try again later.`, {
      retry_after_s: DISK_RETRY_AFTER_S,
      cause: error,
    });
  }
  if (sqliteErrorOf(error)?.code?.startsWith('SQLITE_BUSY')) {
    return new AppError('unavailable', 'The database is busy. Try again in a moment.', {
      retry_after_s: 1,
      cause: error,
    });
  }
  return error;
}

/** Whether a write failed for a reason that may pass: a full or failing disk, or a busy database. */
export function mayPass(error: unknown): boolean {
  return error instanceof AppError && error.kind === 'unavailable';
}

/** For a server, whose requests must not wait for the disk one after another. */
export interface FlushThreadOptions {
  /**
   * The disk lost what was committed. Readers have seen it, and nothing takes it back: end the process, and
   * the next one goes by what it finds. Nothing is acknowledged from then on.
   */
  onLost(error: Error): void;
  /** For tests. */
  worker?: FlushWorker;
}

/**
 * Opens a database that exists, with mode 0600. With `flush_thread` a thread waits for the disk; without it,
 * each commit does.
 */
export function openDatabase(path: string, flush_thread?: FlushThreadOptions): Database {
  const writer = openConnection(path, { query_only: false });
  chmodSync(path, 0o600);
  const reader = openConnection(path, { query_only: true });
  const version = String(writer.query('SELECT sqlite_version()').values()[0]?.[0]);
  if (!flush_thread || !isSafeBesideCommits(version)) return new GroupCommitDatabase(writer, reader, null);
  writer.run('PRAGMA synchronous = NORMAL');
  writer.run('PRAGMA wal_autocheckpoint = 0');
  const flusher = new WalFlusher(path, flush_thread.onLost, flush_thread.worker);
  return new GroupCommitDatabase(writer, reader, flusher);
}

class GroupCommitDatabase implements Database {
  readonly #read: Tx;
  readonly #tx: Tx;
  /** Prepared once: run thousands of times a second, their parsing would show. */
  readonly #steps: Record<'begin' | 'commit' | 'save' | 'release' | 'undo', Statement>;
  readonly #snapshot: Record<'begin' | 'end', Statement>;
  readonly #guards = new AsyncLocalStorage<Guard>();
  #is_changing = false;
  #has_snapshot = false;
  #is_end_planned = false;
  /** What waits for a transaction. */
  readonly #queues: Record<'changes' | 'pieces', QueuedChange[]> = { changes: [], pieces: [] };
  /** How many changes go before the next piece: those that waited at the last commit. Null: unknown. */
  #ahead: number | null = null;
  #is_scheduled = false;
  #is_closed = false;
  #has_written = false;
  readonly measures: DatabaseMeasures;
  readonly #looks: Timer | null;
  /** The last commit is on its way to disk, and the next one waits for it. */
  #syncing: Promise<void> | null = null;

  constructor(
    private readonly writer: Sqlite,
    private readonly reader: Sqlite,
    private readonly flusher: WalFlusher | null,
  ) {
    this.measures = {
      counts: new Tally(['commits', 'changes']),
      syncs: flusher?.syncs ?? new Histogram(DISK_BOUNDS_S),
    };
    this.#tx = drizzle({ client: writer });
    this.#steps = {
      begin: writer.query('BEGIN IMMEDIATE'),
      commit: writer.query('COMMIT'),
      save: writer.query('SAVEPOINT change'),
      release: writer.query('RELEASE change'),
      undo: writer.query('ROLLBACK TO change'),
    };
    this.#snapshot = { begin: reader.query('BEGIN'), end: reader.query('COMMIT') };
    this.#read = drizzle({ client: reader });
    this.#looks = flusher && setInterval(() => void this.tidyLog().catch(() => {}), LOG_LOOK_MS);
    this.#looks?.unref();
  }

  get read(): Tx {
    if (this.#is_changing) return this.#tx;
    if (!this.#has_snapshot && !this.#is_closed) {
      this.#snapshot.begin.run();
      this.#has_snapshot = true;
      if (!this.#is_end_planned) {
        this.#is_end_planned = true;
        setImmediate(() => {
          this.#is_end_planned = false;
          this.#endSnapshot();
        });
      }
    }
    return this.#read;
  }

  #endSnapshot(): void {
    if (!this.#has_snapshot) return;
    this.#has_snapshot = false;
    try {
      this.#snapshot.end.run();
    } catch {
      // This fails, too, after a read met a bad disk or SQLite ended the snapshot. The reader has its error.
      // The changes that wait for the snapshot's end must not fail with it.
      if (this.reader.inTransaction) this.reader.run('ROLLBACK');
    }
  }

  write<T>(change: (tx: Tx) => T, ..._refusal: unknown[]): Promise<T> {
    return this.#enqueue('changes', change);
  }

  writePiece<T>(change: (tx: Tx) => T, ..._refusal: unknown[]): Promise<T> {
    return this.#enqueue('pieces', change);
  }

  #enqueue<T>(kind: 'changes' | 'pieces', change: (tx: Tx) => T): Promise<T> {
    if (this.#is_closed)
      return Promise.reject(new AppError('unavailable', 'The server is stopping.', { retry_after_s: 5 }));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let value: { is: T } | undefined;
    const guard = this.#guards.getStore();
    this.#queues[kind].push({
      run: (tx) => {
        this.#is_changing = true;
        try {
          if (guard && !guard.is_over) {
            guard.check();
            guard.is_over = true;
          }
          value = { is: change(tx) };
          return value.is;
        } finally {
          this.#is_changing = false;
        }
      },
      resolve: () => (value ? resolve(value.is) : reject(new Error('a change resolved before it ran'))),
      reject,
    });
    this.#scheduleFlush();
    return promise;
  }

  async guarded<T>(check: () => void, work: () => Promise<T>): Promise<T> {
    const guard: Guard = { check, is_over: false };
    try {
      return await this.#guards.run(guard, work);
    } finally {
      // Work that goes on in the background is not guarded any more.
      guard.is_over = true;
    }
  }

  settled(): Promise<void> | null {
    return this.#syncing;
  }

  async tidyLog(): Promise<void> {
    const { flusher } = this;
    while (this.#syncing) await this.#syncing;
    if (!flusher || this.#is_closed) return;
    this.#endSnapshot();
    let is_moved = false;
    // Nothing is committed meanwhile.
    this.#syncing = this.#settleOnDisk(async () => {
      is_moved = await flusher.tidy();
    });
    await this.#syncing;
    // The next commit begins the log anew. It changes nothing.
    if (is_moved && !this.#is_closed)
      await this.write((tx) => {
        const [version] = tx.$client.query('PRAGMA user_version').values();
        tx.$client.run(`PRAGMA user_version = ${Number(version?.[0])}`);
      });
  }

  hasWritten(): boolean {
    return this.#has_written;
  }

  async close(): Promise<void> {
    this.#is_closed = true;
    clearInterval(this.#looks ?? undefined);
    while (this.#syncing || this.#is_waiting) {
      this.#flush();
      await this.#syncing;
    }
    await this.flusher?.close();
    this.#endSnapshot();
    this.reader.close();
    this.writer.close();
  }

  get #is_waiting(): boolean {
    return this.#queues.changes.length + this.#queues.pieces.length > 0;
  }

  /** Whose turn it is. */
  #nextKind(): 'changes' | 'pieces' {
    const { changes, pieces } = this.#queues;
    if (pieces.length === 0) this.#ahead = null;
    this.#ahead = Math.min(this.#ahead ?? changes.length, changes.length);
    return pieces.length > 0 && this.#ahead <= 0 ? 'pieces' : 'changes';
  }

  /** While a commit is on its way to disk, what comes gathers for the next one. */
  #scheduleFlush(): void {
    if (this.#is_scheduled || this.#syncing) return;
    this.#is_scheduled = true;
    setImmediate(() => this.#flush());
  }

  /**
   * Runs the waiting changes or pieces in one transaction, for a slice of time. The rest follows after
   * requests that came meanwhile. Nobody hears of success before the commit is on disk.
   */
  #flush(): void {
    this.#is_scheduled = false;
    if (!this.#is_waiting || this.#syncing) return;
    const kind = this.#nextKind();
    const waiting = this.#queues[kind];
    this.#queues[kind] = [];
    const group: QueuedChange[] = [];
    const done: QueuedChange[] = [];
    const refused: { change: QueuedChange; error: unknown }[] = [];
    // A snapshot would keep the commit from moving the log into the database file.
    this.#endSnapshot();
    try {
      this.#steps.begin.run();
      const ends_ms = monotonicMs() + WRITE_SLICE_MS;
      for (const change of waiting) {
        if (group.length > 0 && monotonicMs() >= ends_ms) break;
        group.push(change);
        const error = this.#runInSavepoint(change);
        if (error === null) done.push(change);
        else refused.push({ change, error: error.reason });
      }
      const commits_ms = monotonicMs();
      this.#steps.commit.run();
      // Without the thread it is the commit that waits for the disk.
      if (!this.flusher) this.measures.syncs.observeSince(commits_ms);
      this.measures.counts.add('commits');
      this.measures.counts.add('changes', done.length);
      this.#has_written = true;
      // What a change read outside its transaction is from before the commit.
      this.#endSnapshot();
    } catch (error) {
      if (this.writer.inTransaction) this.writer.run('ROLLBACK');
      const reason = explainFailure(error);
      for (const change of waiting) change.reject(reason);
      if (this.#is_waiting) this.#scheduleFlush();
      return;
    }
    this.#ahead = kind === 'pieces' ? null : (this.#ahead ?? 0) - group.length;
    const settle = (): void => {
      for (const { change, error } of refused) change.reject(explainFailure(error));
      for (const change of done) change.resolve(undefined);
    };
    this.#queues[kind] = [...waiting.slice(group.length), ...this.#queues[kind]];
    const { flusher } = this;
    if (flusher) this.#syncing = this.#settleOnDisk(() => flusher.flush(), settle);
    else settle();
    if (this.#is_waiting) this.#scheduleFlush();
  }

  /** Tells the callers of a commit once it is on disk; where that fails, never. */
  async #settleOnDisk(work: () => Promise<void>, settle?: () => void): Promise<void> {
    await work();
    this.#syncing = null;
    settle?.();
    if (this.#is_waiting) this.#scheduleFlush();
  }

  /** Null when the change stands, else why it was undone. Throws when SQLite gave up everything. */
  #runInSavepoint(change: QueuedChange): { reason: unknown } | null {
    this.#steps.save.run();
    try {
      const value = change.run(this.#tx);
      if (value instanceof Promise) {
        value.catch(() => {});
        throw new Error('write() got an asynchronous change');
      }
      this.#steps.release.run();
      return null;
    } catch (error) {
      if (!this.writer.inTransaction || diskFailureOf(error) !== null) throw error;
      this.#steps.undo.run();
      this.#steps.release.run();
      return { reason: error };
    }
  }
}

/**
 * A prepared statement for each connection, built at first use. Building the SQL takes longer than running
 * it, so hot paths use this. With a sort, a join or `LIMIT ?`, `= ?` has SQLite plan anew for each value,
 * which costs ten runs: `+?` hides the value from the planner.
 */
export function statement<T>(build: (tx: Tx) => T): (tx: Tx) => T {
  const built = new WeakMap<Tx, T>();
  return (tx) => {
    let prepared = built.get(tx);
    if (prepared === undefined) {
      prepared = build(tx);
      built.set(tx, prepared);
    }
    return prepared;
  };
}

/** Whether SQLite refused a row because a row that it refers to is not there. */
export function isOfMissingRow(error: unknown): boolean {
  return sqliteErrorOf(error)?.code === 'SQLITE_CONSTRAINT_FOREIGNKEY';
}

/** For `catch`: AppError `not_found` where a row was deleted since it was looked up, else the error. */
export function explainMissing(noun: string): (error: unknown) => never {
  return (error) => {
    throw isOfMissingRow(error) ? notFound(noun) : error;
  };
}

/** While the disk is full or the database busy, what can't be written is tried again after this. */
export const DATABASE_RETRY_MS = 1_000;

/**
 * Writes what came of outside work, such as a mail that a relay took: else it is done again. Tries again while the disk is full or
 * the database busy, unless the server stops. Else throws.
 */
export async function persist<T>(write: () => Promise<T>, isStopping: () => boolean): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!mayPass(error) || isStopping()) throw error;
      await Bun.sleep(DATABASE_RETRY_MS);
    }
  }
}
