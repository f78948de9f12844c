/**
 * The thread that waits for the disk: a server's commits only hand their pages to the kernel, and this thread flushes
 * SQLite's log (WAL) before anybody is told, so that reads go on however slow the disk is. It moves the log into the
 * database, too.
 */

export type WalFlusherRequest = { op: 'open'; path: string } | { op: 'flush' } | { op: 'close' };
/** What comes back for a flush and a close, and for whatever fails. */
export type WalFlusherReply = { failure: string | null };

/** What of a worker is used; tests hold its answers back. */
export type FlushWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>;

/** The build gives every worker a flat name beside the executable's code. */
const startWorker = (): FlushWorker => new Worker(new URL('./wal-flusher.worker.ts', import.meta.url));

/**
 * Whether two connections may commit and move the log at once, as they do all the time here. Before 3.51.3 SQLite could then
 * take what was not moved for moved and lose it (the "WAL-reset bug"). On macOS, Bun runs the system's SQLite.
 */
export function isSafeBesideCommits(sqlite_version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = sqlite_version.split('.').map(Number);
  return major * 1_000_000 + minor * 1_000 + patch >= 3_051_003;
}

export class WalFlusher {
  readonly #worker: FlushWorker;
  #onDone: (() => void) | null = null;

  /**
   * For a database that is open in WAL mode. `onLost` is called when the disk did not keep the log, or the thread failed;
   * then nothing that is waited for comes any more.
   */
  constructor(path: string, onLost: (error: Error) => void, worker = startWorker()) {
    this.#worker = worker;
    worker.onmessage = ({ data: { failure } }: MessageEvent<WalFlusherReply>) => {
      if (failure === null) this.#onDone?.();
      else onLost(new Error(failure));
    };
    worker.onerror = ({ message }) => onLost(new Error(message));
    this.#post({ op: 'open', path });
  }

  /**
   * Resolves once all that the log holds is on disk. One at a time, and the caller must not commit meanwhile: the thread
   * uses the time to empty the log.
   */
  flush(): Promise<void> {
    return this.#ask({ op: 'flush' });
  }

  /** Lets go of the files and ends the thread. */
  async close(): Promise<void> {
    await this.#ask({ op: 'close' });
    this.#worker.onerror = null;
    this.#worker.terminate();
  }

  #ask(request: WalFlusherRequest): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onDone = resolve;
    this.#post(request);
    return promise;
  }

  #post(request: WalFlusherRequest): void {
    this.#worker.postMessage(request);
  }
}
