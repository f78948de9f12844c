/**
 * One upload on its way to the disk: counted, hashed and written as it comes, under the name that it keeps, and made durable
 * at its end. Only its row makes an object of it, and that is written last: until then a sweep may come to remove it.
 */
import { closeSync, fdatasync, fsync, open, openSync, rmSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { AppError, errorCodeOf } from '../../errors.ts';
import { DISK_RETRY_AFTER_S } from '../../limits.ts';
import { describeDiskFailure } from '../host/disk-failures.ts';

/** Signatures of the formats people upload stand in the first 4 KiB. */
export const SNIFF_BYTES = 4_100;
/** Bytes of an upload written at once: fewer calls gain nothing any more, and two such buffers are all that an upload holds. */
export const BLOB_WRITE_BYTES = 256 * 1024;
/** A large upload is flushed each time this much is written, so that its end is quick. */
export const BLOB_SYNC_EVERY_BYTES = 8 * 1024 * 1024;

const openFile: (path: string, flags: string, mode: number) => Promise<number> = promisify(open);
const flush: (fd: number) => Promise<void> = promisify(fsync);
const flushData: (fd: number) => Promise<void> = promisify(fdatasync);
const NO_BYTES = Buffer.alloc(0);

/** Where an upload is written. */
interface UploadPlace {
  folder: string;
  /** In that folder. */
  path: string;
  /** Has the folder exist on return; the promise resolves once its own name is durable. */
  makeFolder(): Promise<void>;
}

/** No file exists before a buffer is full or `commit` is called: most refused uploads never touch the disk. */
export class BlobUpload {
  readonly id: string;
  readonly #place: UploadPlace;
  readonly #hasher = new Bun.CryptoHasher('sha256');
  #sha256: string | null = null;
  #head: Buffer = NO_BYTES;
  #size_bytes = 0;
  #fd: number | null = null;
  #folder_made: Promise<void> = Promise.resolve();
  /** The buffer that is being filled, and the spare one that the disk is done with. */
  #buffer: Buffer = NO_BYTES;
  #used = 0;
  #spare: Buffer | null = null;
  /** The write under way; once one has failed, this stays the failure. */
  #writing: Promise<void> = Promise.resolve();
  #unsynced_bytes = 0;
  #state: 'open' | 'ending' = 'open';

  constructor(id: string, place: UploadPlace) {
    this.id = id;
    this.#place = place;
  }

  /** Bytes taken so far. */
  get size_bytes(): number {
    return this.#size_bytes;
  }

  /** The first bytes, at most `SNIFF_BYTES`. */
  get head(): Uint8Array {
    return this.#head;
  }

  /** SHA-256 in lower-case hex; nothing can be written after it. */
  sha256(): string {
    this.#sha256 ??= this.#hasher.digest('hex');
    return this.#sha256;
  }

  /**
   * Takes bytes. Await it: it waits while the disk is slower than the client. Throws AppError `unavailable` when the disk
   * is full or failing.
   */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.#state !== 'open' || this.#sha256 !== null) throw new Error('the upload takes no more bytes');
    this.#size_bytes += chunk.byteLength;
    this.#hasher.update(chunk);
    const wanted = SNIFF_BYTES - this.#head.byteLength;
    if (wanted > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, wanted)]);
    for (let at = 0; at < chunk.byteLength; ) {
      if (this.#used === BLOB_WRITE_BYTES) await this.#handOn();
      this.#makeRoom(chunk.byteLength - at);
      const piece = chunk.subarray(at, at + this.#buffer.byteLength - this.#used);
      this.#buffer.set(piece, this.#used);
      this.#used += piece.byteLength;
      at += piece.byteLength;
    }
  }

  /**
   * Makes the bytes durable under the id: when it resolves, a power cut loses nothing. Throws AppError `unavailable` when
   * the disk is full or failing; then, as after any other failure, no file is left.
   */
  async commit(): Promise<void> {
    if (this.#state !== 'open') throw new Error('the upload has already ended');
    this.#state = 'ending';
    try {
      await this.#writing;
      await this.#append(this.#buffer, this.#used);
      const fd = await this.#open();
      // Side by side: the file system carries bytes and name in one go then. Both are waited for also where one fails, as
      // nothing may be flushing a descriptor that is closed, whose number may by then be another file's.
      const flushes = await Promise.allSettled([
        flush(fd),
        flushFolder(this.#place.folder),
        this.#folder_made,
      ]);
      for (const each of flushes) if (each.status === 'rejected') throw each.reason;
      this.#close();
    } catch (error) {
      this.#discard();
      throw diskErrorOf(error);
    }
  }

  /** Drops the bytes; does nothing after a commit or another abort. */
  async abort(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    await Promise.allSettled([this.#writing]);
    this.#discard();
  }

  /** Small uploads get a small buffer, and one that comes in single bytes none for each. */
  #makeRoom(bytes: number): void {
    if (this.#used + bytes <= this.#buffer.byteLength || this.#buffer.byteLength === BLOB_WRITE_BYTES) return;
    const size = Math.min(BLOB_WRITE_BYTES, Math.max(this.#used + bytes, 2 * this.#buffer.byteLength));
    const larger = Buffer.allocUnsafeSlow(size);
    larger.set(this.#buffer.subarray(0, this.#used));
    this.#buffer = larger;
  }

  /** One buffer is written while the next one fills. */
  async #handOn(): Promise<void> {
    try {
      await this.#writing;
    } catch (error) {
      throw diskErrorOf(error);
    }
    const full = this.#buffer;
    this.#writing = this.#append(full, this.#used);
    this.#writing.catch(() => {}); // Whoever awaits it next gets the error.
    this.#buffer = this.#spare ?? NO_BYTES;
    this.#spare = full;
    this.#used = 0;
  }

  async #append(bytes: Uint8Array, size: number): Promise<void> {
    const fd = await this.#open();
    for (let done = 0; done < size; ) done += await writeSome(fd, bytes, done, size - done);
    this.#unsynced_bytes += size;
    if (this.#unsynced_bytes < BLOB_SYNC_EVERY_BYTES) return;
    // The disk works while the client still sends, so that little is left to flush at the end.
    this.#unsynced_bytes = 0;
    // By now the chunks from the network are garbage, which the collector notices too late: without this hint, 10 MB more are in use.
    Bun.gc(false);
    await flushData(fd);
  }

  async #open(): Promise<number> {
    if (this.#fd === null) {
      this.#folder_made = this.#place.makeFolder();
      this.#folder_made.catch(() => {}); // commit awaits it.
      this.#fd = await openFile(this.#place.path, 'wx', 0o600);
    }
    return this.#fd;
  }

  #close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #discard(): void {
    // What stands there without having been opened here is another's.
    if (this.#fd === null) return;
    this.#close();
    rmSync(this.#place.path, { force: true });
  }
}

/** A write may take only a part, as on a disk that is nearly full. */
function writeSome(fd: number, bytes: Uint8Array, at: number, length: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, at, length, null, (error, written) => (error ? reject(error) : resolve(written)));
  });
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

/** A disk that cannot take the bytes becomes AppError `unavailable`; any other error stays what it is. */
export function diskErrorOf(error: unknown): unknown {
  const disk = describeDiskFailure(errorCodeOf(error));
  if (disk === null) return error;
  return new AppError('unavailable', `The file was not stored: ${disk}. Try again later.`, {
    retry_after_s: DISK_RETRY_AFTER_S,
    cause: error,
  });
}
