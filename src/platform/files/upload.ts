/** One upload on its way to the disk: counted, hashed, written in large pieces, made durable, then given its name. */
import { closeSync, fdatasync, fsync, open, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { AppError } from '../../errors.ts';
import {
  BLOB_BUFFERS_IN_FLIGHT,
  BLOB_KEPT_CHUNK_BYTES,
  BLOB_SYNC_EVERY_BYTES,
  BLOB_WRITE_BYTES,
  DISK_RETRY_AFTER_S,
  MAX_FREE_BLOB_BUFFERS,
  SNIFF_BYTES,
} from '../../limits.ts';
import type { BlobThread, HashedFile } from './upload-thread.ts';

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
  /** SHA-256 in lower-case hex; nothing can be written after it. Throws AppError `unavailable` as `write` does. */
  sha256(): Promise<string>;
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
  thread: BlobThread;
  buffers: BlobBuffers;
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

/** Buffers of `BLOB_WRITE_BYTES` that other threads can read, used again by one upload after the other. */
export class BlobBuffers {
  readonly #free: Uint8Array<SharedArrayBuffer>[] = [];

  take(): Uint8Array<SharedArrayBuffer> {
    return this.#free.pop() ?? new Uint8Array(new SharedArrayBuffer(BLOB_WRITE_BYTES));
  }

  giveBack(buffer: Uint8Array<SharedArrayBuffer>): void {
    if (this.#free.length < MAX_FREE_BLOB_BUFFERS) this.#free.push(buffer);
  }
}

/**
 * No file exists before the first buffer is full or `commit` is called: most refused uploads never touch the disk. From
 * then on another thread writes and hashes each full buffer while the next one fills.
 */
export class FileUpload implements BlobUpload {
  readonly #place: UploadPlace;
  readonly #head: Uint8Array[] = [];
  #head_bytes = 0;
  #size_bytes = 0;
  #sha256: Promise<string> | null = null;
  /** Of an upload that has filled a buffer; a smaller one is hashed and written from this thread, which is quicker. */
  #file: HashedFile | null = null;
  #fd: number | null = null;
  /** Bytes not yet handed on, and the small buffer at their end that collects tiny chunks. */
  #pending: Uint8Array[] = [];
  #pending_bytes = 0;
  #tail: { bytes: Uint8Array; used: number } | null = null;
  #unsynced_bytes = 0;
  /** Buffers being written and hashed, oldest first. */
  #in_flight: Promise<void>[] = [];
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
    this.#size_bytes += chunk.byteLength;
    this.#keepHead(chunk);
    this.#keep(chunk);
    if (this.#pending_bytes >= BLOB_WRITE_BYTES) await this.#handOn(BLOB_WRITE_BYTES);
  }

  head(): Uint8Array {
    const [only] = this.#head;
    return this.#head.length === 1 && only ? only : Buffer.concat(this.#head);
  }

  sha256(): Promise<string> {
    this.#sha256 ??= this.#finishHash();
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
      const is_small = this.#file === null;
      // A new name may wait for the file system's journal, which flushes of other uploads keep busy: not on this thread.
      if (is_small) this.#fd = await openFile(home, 'wx', 0o600);
      if (is_small) path = home;
      await this.#writeRest();
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
  #keep(chunk: Uint8Array): void {
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

  async #finishHash(): Promise<string> {
    if (this.#file) {
      await this.#handOn(1);
      // A buffer that could not be written is not in the hash, which would then be that of other bytes.
      const [sha256] = await Promise.all([this.#file.digest(), ...this.#in_flight]);
      return sha256;
    }
    this.#sealTail();
    const hasher = new Bun.CryptoHasher('sha256');
    for (const chunk of this.#pending) hasher.update(chunk);
    return hasher.digest('hex');
  }

  /** Hands on what is pending while there is `least_bytes` of it. Waits until little enough is in flight: that slows the client down. */
  async #handOn(least_bytes: number): Promise<void> {
    this.#sealTail();
    while (this.#pending_bytes >= least_bytes) {
      const buffer = this.#place.buffers.take();
      await this.#send(buffer, this.#fill(buffer));
    }
  }

  /** Moves pending bytes into a buffer; returns how many. */
  #fill(buffer: Uint8Array): number {
    let used = 0;
    while (used < buffer.byteLength) {
      const chunk = this.#pending.shift();
      if (chunk === undefined) break;
      const piece = chunk.subarray(0, buffer.byteLength - used);
      buffer.set(piece, used);
      used += piece.byteLength;
      if (piece.byteLength < chunk.byteLength) this.#pending.unshift(chunk.subarray(piece.byteLength));
    }
    this.#pending_bytes -= used;
    return used;
  }

  async #send(buffer: Uint8Array<SharedArrayBuffer>, size: number): Promise<void> {
    const written = this.#append(buffer, size);
    written.catch(() => {}); // Whoever awaits it gets the error.
    this.#in_flight.push(written);
    if (this.#in_flight.length >= BLOB_BUFFERS_IN_FLIGHT) await this.#in_flight.shift();
  }

  async #append(buffer: Uint8Array<SharedArrayBuffer>, size: number): Promise<void> {
    try {
      // The thread first: once it has the upload, nobody takes what is left for a small one, though the file may not open.
      const file = this.#fileOnThread();
      const fd = this.#open();
      await file.append(fd, buffer.buffer, size);
      this.#unsynced_bytes += size;
      if (this.#unsynced_bytes >= BLOB_SYNC_EVERY_BYTES) this.#startSync(fd);
    } catch (error) {
      throw diskErrorOf(error);
    } finally {
      this.#place.buffers.giveBack(buffer);
    }
  }

  /** Everything that has come is in the file once this resolves. */
  async #writeRest(): Promise<void> {
    if (this.#file) {
      await this.#handOn(1);
      await Promise.all(this.#in_flight);
      return;
    }
    this.#sealTail();
    for (const chunk of this.#pending) {
      for (let done = 0; done < chunk.byteLength; ) done += writeSync(this.#open(), chunk, done);
    }
  }

  /** Lets the disk work while the client still sends, so that little is left to flush at the end. */
  #startSync(fd: number): void {
    // Chunks from the network are garbage by now, in amounts that the collector sees too late: without a word, 10 MB more.
    Bun.gc(false);
    this.#unsynced_bytes = 0;
    this.#syncing = this.#syncing.then(() => flushData(fd));
    this.#syncing.catch(() => {}); // commit awaits it.
  }

  #fileOnThread(): HashedFile {
    this.#file ??= this.#place.thread.start();
    return this.#file;
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
    await Promise.allSettled([...this.#in_flight, this.#syncing]);
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
    this.#file?.forget();
    this.#place.onEnd(id);
  }
}
