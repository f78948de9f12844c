/**
 * The main thread's side of flushing the database's log (WAL) to disk on another thread, and of moving the log into the
 * database there: both wait for the disk, and on the event loop every request would wait with them.
 */
import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs';
import { requireThreadDescriptors } from '../host/descriptors.ts';

export type WalRequest = { op: 'open'; path: string; wal_path: string } | { op: 'sync' } | { op: 'close' };
/** One for each request, in the order of the requests. */
export type WalReply = { ok: true } | { ok: false; message: string };

/** The disk failed to keep the log: what was committed since the last flush may be lost. */
export class WalSyncError extends Error {}

/** The thread ended without an answer; the log is as it was. */
export class WalThreadGone extends Error {}

export interface WalThread {
  /**
   * Resolves once all that the log holds is on disk. The caller must not commit meanwhile: the thread uses the time to
   * empty the log. Rejects with WalSyncError or WalThreadGone.
   */
  sync(): Promise<void>;
  /** Lets go of the files and ends the thread; nothing can be synced any more. Never rejects. */
  close(): Promise<void>;
}

const REWRITE_BYTES = 1024 * 1024;

/** How the thread is started; the build gives every worker a flat name beside the executable's code. */
export type StartWorker = () => Worker;

const startWalWorker: StartWorker = () => new Worker(new URL('./log-flush.worker.ts', import.meta.url));

function walPathOf(database_path: string): string {
  return `${database_path}-wal`;
}

/** Flushes the log on this thread. Throws WalSyncError. */
export function syncWal(database_path: string): void {
  flushWal(database_path, () => {});
}

/**
 * Writes the whole log anew, as the kernel shows it, and flushes that on this thread. After a flush that failed Linux takes
 * what it could not write for written: every process goes on seeing it, and no later flush brings it to disk. The caller
 * holds SQLite's lock for writing. Throws WalSyncError.
 */
export function rewriteWal(database_path: string): void {
  flushWal(database_path, (fd) => {
    const buffer = Buffer.alloc(REWRITE_BYTES);
    let position = 0;
    for (;;) {
      const length = readSync(fd, buffer, 0, buffer.length, position);
      if (length === 0) return;
      for (let done = 0; done < length; ) {
        done += writeSync(fd, buffer, done, length - done, position + done);
      }
      position += length;
    }
  });
}

function flushWal(database_path: string, prepare: (fd: number) => void): void {
  try {
    const fd = openSync(walPathOf(database_path), 'r+');
    try {
      prepare(fd);
      fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw new WalSyncError(String(error), { cause: error });
  }
}

/**
 * Starts the thread for a database that has a log already. Rejects when the thread can't open it, or while the process has
 * few file descriptors left.
 */
export async function startWalThread(
  database_path: string,
  startWorker: StartWorker = startWalWorker,
): Promise<WalThread> {
  requireThreadDescriptors();
  const thread = new WorkerWalThread(startWorker());
  try {
    await thread.open(database_path);
    return thread;
  } catch (error) {
    await thread.close();
    throw error;
  }
}

interface Pending {
  resolve(reply: WalReply): void;
  reject(error: unknown): void;
}

class WorkerWalThread implements WalThread {
  readonly #worker: Worker;
  #pending: Pending[] = [];
  #has_ended = false;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<WalReply>) => {
      // Only who waits for an answer keeps the process alive.
      if (this.#pending.length === 1) worker.unref();
      this.#pending.shift()?.resolve(data);
    };
    worker.onerror = () => this.#end();
    worker.addEventListener('close', () => this.#end());
    worker.unref();
  }

  async open(path: string): Promise<void> {
    const reply = await this.#ask({ op: 'open', path, wal_path: walPathOf(path) });
    if (!reply.ok) throw new Error(reply.message);
  }

  async sync(): Promise<void> {
    const reply = await this.#ask({ op: 'sync' });
    if (!reply.ok) throw new WalSyncError(reply.message);
  }

  async close(): Promise<void> {
    // One that has died has let go of its files by itself.
    await this.#ask({ op: 'close' }).catch(() => {});
    this.#end();
  }

  #ask(request: WalRequest): Promise<WalReply> {
    if (this.#has_ended) return Promise.reject(new WalThreadGone('the thread has ended'));
    const { promise, resolve, reject } = Promise.withResolvers<WalReply>();
    if (this.#pending.push({ resolve, reject }) === 1) this.#worker.ref();
    this.#worker.postMessage(request);
    return promise;
  }

  #end(): void {
    if (this.#has_ended) return;
    this.#has_ended = true;
    this.#worker.terminate();
    for (const { reject } of this.#pending.splice(0)) reject(new WalThreadGone('the thread has ended'));
  }
}
