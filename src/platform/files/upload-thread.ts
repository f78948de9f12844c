/** The main thread's side of writing and hashing large uploads on another one, started when needed and ended when idle. */
import { AppError } from '../../errors.ts';
import { BLOB_THREAD_IDLE_STOP_MS } from '../../limits.ts';
import { requireThreadDescriptors } from '../host/descriptors.ts';

export type BlobRequest =
  | { op: 'append'; upload: number; fd: number; buffer: SharedArrayBuffer; size_bytes: number }
  | { op: 'digest' | 'forget'; upload: number };
export type BlobReply =
  | { ok: true; sha256?: string }
  /** `code` is that of the system, such as ENOSPC. */
  | { ok: false; code: string | null; message: string };

/** A file that is written, and the SHA-256 of what is written to it. */
export interface HashedFile {
  /**
   * Writes the first bytes of a buffer, which must not change until the promise is settled. Rejects with the system's
   * error, or with AppError `unavailable` when the thread has died since the upload began.
   */
  append(fd: number, buffer: SharedArrayBuffer, size_bytes: number): Promise<void>;
  /** The hash in lower-case hex; nothing can be added after it. Throws as `append` does. */
  digest(): Promise<string>;
  /** Ends it without a hash; does nothing after another end. Call one of the two in any case. */
  forget(): void;
}

export interface BlobThreadOptions {
  idle_stop_ms?: number;
  /** How the thread is started. */
  startWorker?: () => Worker;
}

interface Pending {
  resolve(reply: BlobReply): void;
  reject(error: unknown): void;
}

export class BlobThread {
  readonly #options: BlobThreadOptions;
  #worker: Worker | null = null;
  /** In the order of the requests, which is that of the replies. */
  #pending: Pending[] = [];
  /** Uploads that the thread knows of. */
  #open = new Set<number>();
  #next_upload = 1;
  #idle_timer: Timer | null = null;

  constructor(options: BlobThreadOptions = {}) {
    this.#options = options;
  }

  /** Throws AppError `unavailable` while there is no thread and too few file descriptors for one. */
  start(): HashedFile {
    const upload = this.#next_upload++;
    const worker = this.#worker ?? this.#startWorker();
    this.#open.add(upload);
    worker.ref();
    if (this.#idle_timer) clearTimeout(this.#idle_timer);
    this.#idle_timer = null;
    // Until the hash is there the upload counts as open: closed twice, it would arm two timers, and the one that nobody
    // clears would end the thread under a later upload.
    let has_ended = false;
    return {
      append: async (fd, buffer, size_bytes) => {
        await this.#ask(worker, { op: 'append', upload, fd, buffer, size_bytes });
      },
      digest: async () => {
        has_ended = true;
        try {
          return await this.#ask(worker, { op: 'digest', upload });
        } finally {
          this.#close(worker, upload);
        }
      },
      forget: () => {
        if (worker !== this.#worker || has_ended) return;
        has_ended = true;
        worker.postMessage({ op: 'forget', upload } satisfies BlobRequest);
        this.#close(worker, upload);
      },
    };
  }

  async #ask(worker: Worker, request: BlobRequest): Promise<string> {
    if (worker !== this.#worker) throw brokenDown();
    const { promise, resolve, reject } = Promise.withResolvers<BlobReply>();
    this.#pending.push({ resolve, reject });
    worker.postMessage(request);
    const reply = await promise;
    if (reply.ok) return reply.sha256 ?? '';
    throw Object.assign(new Error(reply.message), { code: reply.code });
  }

  #close(worker: Worker, upload: number): void {
    this.#open.delete(upload);
    if (worker !== this.#worker || this.#open.size > 0) return;
    worker.unref();
    const idle_stop_ms = this.#options.idle_stop_ms ?? BLOB_THREAD_IDLE_STOP_MS;
    this.#idle_timer = setTimeout(() => this.#end(worker), idle_stop_ms);
    this.#idle_timer.unref();
  }

  #startWorker(): Worker {
    requireThreadDescriptors();
    // The build gives every worker a flat name beside the executable's code, so this address holds there too.
    const start =
      this.#options.startWorker ?? (() => new Worker(new URL('./upload.worker.ts', import.meta.url)));
    const worker = start();
    worker.onmessage = ({ data }: MessageEvent<BlobReply>) => this.#pending.shift()?.resolve(data);
    // Only once it has closed does it write no more: until then nobody is told, so no descriptor of its is used again.
    worker.onerror = () => worker.terminate();
    worker.addEventListener('close', () => this.#end(worker));
    this.#worker = worker;
    return worker;
  }

  /** Ends the thread; whoever still waits for it is told. The next upload starts another. */
  #end(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    this.#open = new Set();
    worker.terminate();
    for (const { reject } of this.#pending.splice(0)) reject(brokenDown());
  }
}

function brokenDown(): AppError {
  return new AppError('unavailable', 'The file was not stored: writing it was cut off. Try again.', {
    retry_after_s: 1,
  });
}
