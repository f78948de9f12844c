/**
 * The thread that waits for the disk. A server's commit hands its pages to the kernel. This thread then
 * flushes SQLite's log (WAL), and only after that is the commit acknowledged. Meanwhile reads go on, however
 * slow the disk is. The thread moves the log into the database, too.
 */

import { DISK_BOUNDS_S, Histogram } from '../host/measures.ts';

export type WalFlusherRequest = { op: 'open'; path: string } | { op: 'flush' | 'tidy' | 'close' };
/** The thread's answers: to a flush how long the disk took, to a tidying whether a commit is wanted; and its failure. */
export type WalFlusherReply = { failure: string | null; synced_s?: number; is_moved?: boolean };

/** The part of a worker that is used here; tests delay its answers. */
export type FlushWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>;

/** The build gives every worker a flat name beside the executable's code. */
const startWorker = (): FlushWorker => new Worker(new URL('./wal-flusher.worker.ts', import.meta.url));

/**
 * Whether one connection may commit while another moves the log into the database, as happens here all the
 * time. SQLite before 3.51.3 could then lose commits (the "WAL-reset bug"). On macOS Bun runs the system's
 * SQLite.
 */
export function isSafeBesideCommits(sqlite_version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = sqlite_version.split('.').map(Number);
  return major * 1_000_000 + minor * 1_000 + patch >= 3_051_003;
}

export class WalFlusher {
  /** How long the disk took over each flush. */
  readonly syncs = new Histogram(DISK_BOUNDS_S);
  readonly #worker: FlushWorker;
  #onDone: ((reply: WalFlusherReply) => void) | null = null;

  /**
   * The database must be open in WAL mode. `onLost` is called when the disk did not keep the log or the
   * thread failed. Pending flushes then never resolve.
   */
  constructor(path: string, onLost: (error: Error) => void, worker = startWorker()) {
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<WalFlusherReply>) => {
      const { failure, synced_s } = data;
      if (synced_s !== undefined) this.syncs.observe(synced_s);
      if (failure === null) this.#onDone?.(data);
      else onLost(new Error(failure));
    };
    worker.onerror = ({ message }) => onLost(new Error(message));
    this.#post({ op: 'open', path });
  }

  /**
   * Resolves once everything in the log is on disk. Only one flush may run at a time. The caller must not
   * commit meanwhile: the thread uses the time to empty the log.
   */
  async flush(): Promise<void> {
    await this.#ask({ op: 'flush' });
  }

  /**
   * Takes out of the log's file what is older than the log, and moves the log into the database, where it holds earlier states:
   * true where a commit now begins it anew. As for a flush, the caller must not commit meanwhile.
   */
  async tidy(): Promise<boolean> {
    return (await this.#ask({ op: 'tidy' })).is_moved === true;
  }

  /** Lets go of the files and ends the thread. */
  async close(): Promise<void> {
    await this.#ask({ op: 'close' });
    this.#worker.onerror = null;
    this.#worker.terminate();
  }

  #ask(request: WalFlusherRequest): Promise<WalFlusherReply> {
    const { promise, resolve } = Promise.withResolvers<WalFlusherReply>();
    this.#onDone = resolve;
    this.#post(request);
    return promise;
  }

  #post(request: WalFlusherRequest): void {
    this.#worker.postMessage(request);
  }
}
