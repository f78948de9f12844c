/**
 * How a commit gets to disk. While little is written it waits there itself (`synchronous = FULL`). Once commits are many or
 * slow, one only hands its pages to the kernel (`NORMAL`), and another thread flushes them before anybody is told: the same
 * promise, but the event loop answers requests meanwhile, however slow the disk.
 */
import type { Database as Sqlite } from 'bun:sqlite';
import {
  WAL_CHECKPOINT_FALLBACK_FRAMES,
  WAL_CHECKPOINT_FRAMES,
  WAL_THREAD_FROM_COMMITS,
  WAL_THREAD_FROM_WAIT_MS,
  WAL_THREAD_IDLE_STOP_MS,
  WAL_THREAD_RETRY_MS,
} from '../../limits.ts';
import { monotonicMs } from '../host/clock.ts';
import {
  rewriteWal,
  startWalThread,
  syncWal,
  WalSyncError,
  type WalThread,
  WalThreadGone,
} from './log-flush-thread.ts';

/** The numbers and the start are for tests to change. */
export interface WalSyncOptions {
  /** Commits a second from which on the thread is worth it. */
  from_commits?: number;
  /** Time spent in commits a second, likewise. */
  from_wait_ms?: number;
  idle_stop_ms?: number;
  sqlite_version?: string;
  startThread?: (database_path: string) => Promise<WalThread>;
  /** The thread could not be started, has died or met a failing disk: commits wait for the disk themselves, as before. */
  onTrouble?(error: unknown): void;
}

/**
 * Whether two connections may commit and move the log at once, as the thread has them do all the time. Before 3.51.3 SQLite
 * could then take what was not moved for moved and lose it (the "WAL-reset bug"). On macOS, Bun runs the system's SQLite.
 */
function isSafeBeside(sqlite_version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = sqlite_version.split('.').map(Number);
  return major * 1_000_000 + minor * 1_000 + patch >= 3_051_003;
}

export class WalSync {
  readonly #path: string;
  readonly #writer: Sqlite;
  readonly #options: WalSyncOptions;
  readonly #is_possible: boolean;
  #thread: WalThread | null = null;
  #starting: Promise<void> | null = null;
  #idle_timer: Timer | null = null;
  #is_idle = false;
  #is_closed = false;
  /** Of the second that began then. */
  #commits = 0;
  #waited_ms = 0;
  #counted_from_ms = Number.NEGATIVE_INFINITY;
  #retry_from_ms = Number.NEGATIVE_INFINITY;

  /** `writer` is in WAL mode, with `synchronous = FULL`. */
  constructor(database_path: string, writer: Sqlite, options: WalSyncOptions) {
    this.#path = database_path;
    this.#writer = writer;
    this.#options = options;
    const { sqlite_version = String(writer.query('SELECT sqlite_version()').values()[0]?.[0]) } = options;
    this.#is_possible = isSafeBeside(sqlite_version);
  }

  /**
   * Call it after each commit, with the time that took. Null when it is on disk, else what resolves once it is; until then
   * the writer must not begin another. Rejects with WalSyncError.
   */
  afterCommit(waited_ms: number): Promise<void> | null {
    if (this.#thread) {
      this.#is_idle = false;
      return this.#sync(this.#thread);
    }
    if (this.#isWorthAThread(waited_ms) && !this.#starting && !this.#is_closed)
      this.#starting = this.#start();
    return null;
  }

  /** Every later commit waits for the disk by itself again. Call it while nothing is being synced. */
  async close(): Promise<void> {
    this.#is_closed = true;
    await this.#starting;
    await this.#leaveThread();
  }

  async #sync(thread: WalThread): Promise<void> {
    try {
      await thread.sync();
    } catch (error) {
      this.#options.onTrouble?.(error);
      // Before the thread lets go of the database: a connection that closes may move the log into it.
      if (error instanceof WalThreadGone) {
        syncWal(this.#path);
      } else {
        this.#rewriteLog();
        this.#retry_from_ms = monotonicMs() + WAL_THREAD_RETRY_MS;
      }
      await this.#leaveThread();
    }
  }

  /**
   * Linux takes what a flush failed to write for written, and SQLite the commits in it for any others: the next to empty the
   * log, of whatever process, would move them into the database, which a power cut could leave half done without a log on
   * disk to mend it by. Written anew, the log is whole on disk, or the disk fails for good. Throws WalSyncError.
   */
  #rewriteLog(): void {
    try {
      // Keeps everybody from adding to the log or beginning it afresh.
      this.#writer.run('BEGIN IMMEDIATE');
      try {
        rewriteWal(this.#path);
      } finally {
        this.#writer.run('ROLLBACK');
      }
    } catch (error) {
      throw error instanceof WalSyncError ? error : new WalSyncError(String(error), { cause: error });
    }
  }

  #isWorthAThread(waited_ms: number): boolean {
    const now_ms = monotonicMs();
    if (now_ms - this.#counted_from_ms >= 1_000) {
      this.#counted_from_ms = now_ms;
      this.#commits = 0;
      this.#waited_ms = 0;
    }
    this.#commits += 1;
    this.#waited_ms += waited_ms;
    if (!this.#is_possible || now_ms < this.#retry_from_ms) return false;
    const { from_commits = WAL_THREAD_FROM_COMMITS, from_wait_ms = WAL_THREAD_FROM_WAIT_MS } = this.#options;
    return this.#commits >= from_commits || this.#waited_ms >= from_wait_ms;
  }

  async #start(): Promise<void> {
    try {
      this.#thread = await (this.#options.startThread ?? startWalThread)(this.#path);
      // Never within a transaction, where this would do nothing: those end in the turn in which they begin.
      this.#writer.run('PRAGMA synchronous = NORMAL');
      this.#writer.run(`PRAGMA wal_autocheckpoint = ${WAL_CHECKPOINT_FALLBACK_FRAMES}`);
      this.#watchIdleness();
    } catch (error) {
      // No file descriptor left, say: commits go on waiting for the disk themselves.
      this.#options.onTrouble?.(error);
      this.#retry_from_ms = monotonicMs() + WAL_THREAD_RETRY_MS;
    } finally {
      this.#starting = null;
    }
  }

  #watchIdleness(): void {
    this.#is_idle = true;
    const idle_stop_ms = this.#options.idle_stop_ms ?? WAL_THREAD_IDLE_STOP_MS;
    this.#idle_timer = setTimeout(() => {
      if (this.#is_idle) void this.#leaveThread();
      else this.#watchIdleness();
    }, idle_stop_ms);
    this.#idle_timer.unref();
  }

  async #leaveThread(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    this.#thread = null;
    if (this.#idle_timer) clearTimeout(this.#idle_timer);
    this.#writer.run('PRAGMA synchronous = FULL');
    this.#writer.run(`PRAGMA wal_autocheckpoint = ${WAL_CHECKPOINT_FRAMES}`);
    await thread.close();
  }
}
