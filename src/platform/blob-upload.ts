/** One upload on its way to the disk: counted, hashed, written in large pieces, made durable, then given its name. */
import {
  closeSync,
  fdatasync,
  fsync,
  open,
  openSync,
  renameSync,
  rmSync,
  write,
  writeSync,
  writev,
} from 'node:fs';
import { promisify } from 'node:util';
import { AppError } from '../errors.ts';
import {
  BLOB_INLINE_WRITE_BYTES,
  BLOB_KEPT_CHUNK_BYTES,
  BLOB_SYNC_EVERY_BYTES,
  BLOB_WRITE_BYTES,
  DISK_RETRY_AFTER_S,
  SNIFF_BYTES,
} from '../limits.ts';

const flushData: (fd: number) => Promise<void> = promisify(fdatasync);
const openFile: (path: string, flags: string, mode: number) => Promise<number> = promisify(open);
const flush: (fd: number) => Promise<void> = promisify(fsync);

export interface BlobUpload {
  /** Bytes taken so far. */
  readonly size_bytes: number;
  /**
   * Takes bytes and keeps them until they are written, so the caller must not change them. Await it: it waits while
   * the disk is slower than the client. Throws AppError `unavailable` when the disk is full or failing.
   */
  write(chunk: Uint8Array): Promise<void>;
  /** The first bytes, at most `SNIFF_BYTES`. */
  head(): Uint8Array;
  /** SHA-256 in lower-case hex; nothing can be written after it. */
  sha256(): string;
  /**
   * Makes the bytes durable under this id: when it resolves, a power cut loses nothing. Throws AppError `unavailable`
   * when the disk is full or failing; then, as after any other failure, no file is left.
   */
  commit(id: string): Promise<void>;
  /** Drops the bytes; does nothing after a commit or another abort. */
  abort(): Promise<void>;
}

/** What an upload needs of the store it belongs to. */
export interface UploadPlace {
  temp_path: string;
  /** Where the id is going to be; its folder exists. */
  prepareHome(id: string): string;
  /** Makes the names durable that lead to the id. */
  flushHome(id: string): Promise<void>;
  /** Called once, when the upload has committed or is gone; the id is null when it is gone. */
  onEnd(id: string | null): void;
}

/** A disk that cannot take the bytes becomes AppError `unavailable`; any other error stays what it is. */
export function diskErrorOf(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new AppError(
      'unavailable',
      "The file was not stored: the server's disk is full. Try again later.",
      { retry_after_s: DISK_RETRY_AFTER_S, cause: error },
    );
  }
  if (code === 'EIO' || code === 'EROFS') {
    return new AppError(
      'unavailable',
      "The file was not stored: the server's disk is failing or full. Try again later.",
      { retry_after_s: DISK_RETRY_AFTER_S, cause: error },
    );
  }
  return error;
}

/** Flushes a folder, so that the names in it survive a power cut. */
export async function flushFolder(path: string): Promise<void> {
  const fd = openSync(path, 'r');
  try {
    await flush(fd);
  } finally {
    closeSync(fd);
  }
}

/** No file exists before the first buffer is full or `commit` is called: most refused uploads never touch the disk. */
export class FileUpload implements BlobUpload {
  readonly #place: UploadPlace;
  readonly #hasher = new Bun.CryptoHasher('sha256');
  readonly #head: Uint8Array[] = [];
  #head_bytes = 0;
  #size_bytes = 0;
  #sha256: string | null = null;
  #fd: number | null = null;
  /** Bytes not yet handed to the system, and the small buffer at their end that collects tiny chunks. */
  #pending: Uint8Array[] = [];
  #pending_bytes = 0;
  #tail: { bytes: Uint8Array; used: number } | null = null;
  #unsynced_bytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #syncing: Promise<void> = Promise.resolve();
  #state: 'open' | 'committing' | 'ended' = 'open';

  constructor(place: UploadPlace) {
    this.#place = place;
  }

  get size_bytes(): number {
    return this.#size_bytes;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#state !== 'open' || this.#sha256 !== null) throw new Error('the upload takes no more bytes');
    this.#hasher.update(chunk);
    this.#size_bytes += chunk.byteLength;
    this.#keepHead(chunk);
    this.#append(chunk);
    if (this.#pending_bytes < BLOB_WRITE_BYTES) return;
    // One write is under way while the next buffer fills; waiting for it here is what slows the client down.
    await this.#writing;
    this.#startWrite();
  }

  head(): Uint8Array {
    const [only] = this.#head;
    return this.#head.length === 1 && only ? only : Buffer.concat(this.#head);
  }

  sha256(): string {
    this.#sha256 ??= this.#hasher.digest('hex');
    return this.#sha256;
  }

  async commit(id: string): Promise<void> {
    if (this.#state !== 'open') throw new Error('the upload has already ended');
    this.#state = 'committing';
    let path: string | null = null;
    try {
      const home = this.#place.prepareHome(id);
      // The bytes get their name before they are flushed: a small upload at once, a large one by renaming. Nothing
      // looks for it until commit has resolved, a sweep leaves it alone until then, and the file system's journal
      // carries bytes and name in one go rather than in two.
      const is_small = this.#fd === null;
      // A new name may wait for the file system's journal, which flushes of other uploads keep busy: not on this thread.
      if (is_small) this.#fd = await openFile(home, 'wx', 0o600);
      if (is_small) path = home;
      await this.#writing;
      this.#startWrite();
      await this.#writing;
      await this.#syncing;
      if (!is_small) renameSync(this.#place.temp_path, home);
      path = home;
      await flush(this.#open());
      this.#close();
      await this.#place.flushHome(id);
    } catch (error) {
      await this.#discard(path);
      throw diskErrorOf(error);
    }
    this.#end(id);
  }

  async abort(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'committing';
    await this.#discard(null);
  }

  #keepHead(chunk: Uint8Array): void {
    if (this.#head_bytes >= SNIFF_BYTES || chunk.byteLength === 0) return;
    // A copy: a view would keep the whole network buffer alive.
    const piece = chunk.slice(0, SNIFF_BYTES - this.#head_bytes);
    this.#head.push(piece);
    this.#head_bytes += piece.byteLength;
  }

  /** Large chunks are kept as they are; tiny ones are copied together, or a client that sends single bytes could fill the memory. */
  #append(chunk: Uint8Array): void {
    this.#pending_bytes += chunk.byteLength;
    if (chunk.byteLength >= BLOB_KEPT_CHUNK_BYTES) {
      this.#sealTail();
      this.#pending.push(chunk);
      return;
    }
    if (this.#tail && this.#tail.used + chunk.byteLength > this.#tail.bytes.byteLength) this.#sealTail();
    this.#tail ??= { bytes: new Uint8Array(4 * BLOB_KEPT_CHUNK_BYTES), used: 0 };
    this.#tail.bytes.set(chunk, this.#tail.used);
    this.#tail.used += chunk.byteLength;
  }

  #sealTail(): void {
    if (this.#tail) this.#pending.push(this.#tail.bytes.subarray(0, this.#tail.used));
    this.#tail = null;
  }

  #startWrite(): void {
    this.#sealTail();
    const chunks = this.#pending;
    const size = this.#pending_bytes;
    this.#pending = [];
    this.#pending_bytes = 0;
    this.#writing = this.#writeOut(chunks, size);
    this.#writing.catch(() => {}); // Whoever awaits it next gets the error.
  }

  async #writeOut(chunks: Uint8Array[], size: number): Promise<void> {
    try {
      const fd = this.#open();
      if (size === 0) return;
      if (size <= BLOB_INLINE_WRITE_BYTES) {
        // Into the page cache this takes microseconds; a trip to the thread pool costs more than the copy itself.
        for (const chunk of chunks) {
          for (let done = 0; done < chunk.byteLength; ) done += writeSync(fd, chunk, done);
        }
      } else {
        await writeAll(fd, chunks, size);
      }
      this.#unsynced_bytes += size;
      if (this.#unsynced_bytes >= BLOB_SYNC_EVERY_BYTES) this.#startSync(fd);
    } catch (error) {
      throw diskErrorOf(error);
    }
  }

  /** Lets the disk work while the client still sends, so that little is left to flush at the end. */
  #startSync(fd: number): void {
    this.#unsynced_bytes = 0;
    this.#syncing = this.#syncing.then(() => flushData(fd));
    this.#syncing.catch(() => {}); // commit awaits it.
  }

  #open(): number {
    this.#fd ??= openSync(this.#place.temp_path, 'wx', 0o600);
    return this.#fd;
  }

  #close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  async #discard(path: string | null): Promise<void> {
    // Nothing may write to a descriptor that is closed, whose number may by then be another file's.
    await Promise.allSettled([this.#writing, this.#syncing]);
    this.#pending = [];
    this.#tail = null;
    const had_file = this.#fd !== null || path !== null;
    this.#close();
    try {
      if (had_file) rmSync(this.#place.temp_path, { force: true });
      if (path !== null) rmSync(path, { force: true });
    } finally {
      this.#end(null);
    }
  }

  #end(id: string | null): void {
    this.#state = 'ended';
    this.#place.onEnd(id);
  }
}

const writeSome = promisify(write);
const writeSomeOf = promisify(writev);

/** Writes every byte: a write may take only a part, as on a disk that is nearly full. */
async function writeAll(fd: number, chunks: Uint8Array[], size: number): Promise<void> {
  let left = await writeSomeOf(fd, chunks).then(bytesWritten);
  if (left === size) return;
  for (const chunk of chunks) {
    let done = Math.min(left, chunk.byteLength);
    left -= done;
    while (done < chunk.byteLength) {
      done += await writeSome(fd, chunk, done, chunk.byteLength - done, null).then(bytesWritten);
    }
  }
}

/** Bun's promisified write gives the count, Node's an object with it. */
function bytesWritten(result: number | { bytesWritten: number }): number {
  return typeof result === 'number' ? result : result.bytesWritten;
}
