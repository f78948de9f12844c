/** An upload on its way to the local disk: written under its final name as it comes, durable at its end. */
import {
  closeSync,
  constants,
  fdatasync,
  fsync,
  ftruncateSync,
  open,
  openSync,
  rmSync,
  write,
} from 'node:fs';
import { promisify } from 'node:util';
import { AppError, errorCodeOf } from '../../errors.ts';
import { DISK_RETRY_AFTER_S } from '../../limits.ts';
import { monotonicMs } from '../host/clock.ts';
import type { Histogram } from '../host/measures.ts';
import { asCallerAt } from '../host/ownership.ts';
import { describeDiskFailure } from '../host/shortages.ts';
import type { UploadSink } from './upload.ts';

/** Bytes of an upload written at once: more gains nothing, and an upload holds two such buffers. */
export const BLOB_WRITE_BYTES = 256 * 1024;
/** A large upload is flushed each time this much is written, so that its end is quick. */
export const BLOB_SYNC_EVERY_BYTES = 8 * 1024 * 1024;

const openFile: (path: string, flags: number, mode: number) => Promise<number> = promisify(open);
const flush: (fd: number) => Promise<void> = promisify(fsync);
const flushData: (fd: number) => Promise<void> = promisify(fdatasync);

/** Where an upload is written. */
interface UploadPlace {
  folder: string;
  /** In that folder. */
  path: string;
  /** Up to where the file is there and stays; null where there must be none. */
  from: number | null;
  /** Has the folder exist on return; the promise resolves once its own name is durable. */
  makeFolder(): Promise<void>;
  /** How long the disk takes is noted here. */
  syncs: Histogram;
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
const ANY_FILE = constants.O_WRONLY | constants.O_CREAT;

/** Throws AppError `unavailable` when the disk is full or failing. */
export class FileSink implements UploadSink {
  readonly piece_bytes = BLOB_WRITE_BYTES;
  #fd: number | null = null;
  #folder_made: Promise<void> = Promise.resolve();
  #unsynced_bytes = 0;
  #position: number;

  constructor(private readonly place: UploadPlace) {
    this.#position = place.from ?? 0;
  }

  async append(piece: Uint8Array): Promise<void> {
    try {
      await this.#append(piece);
    } catch (error) {
      throw diskErrorOf(error);
    }
  }

  async finish(piece: Uint8Array): Promise<void> {
    try {
      await this.#append(piece);
      const fd = await this.#open();
      // Both at once: the file system then writes bytes and name together. Both are awaited even if one
      // fails: a closed descriptor's number may soon be another file's, and nothing may flush that.
      const started_ms = monotonicMs();
      const flushes = await Promise.allSettled([
        flush(fd),
        flushFolder(this.place.folder),
        this.#folder_made,
      ]);
      this.place.syncs.observeSince(started_ms);
      for (const each of flushes) if (each.status === 'rejected') throw each.reason;
      this.#close();
    } catch (error) {
      throw diskErrorOf(error);
    }
  }

  discard(): void {
    // What stands there without having been opened here is another's.
    if (this.#fd === null) return;
    const { path, from } = this.place;
    if (from !== null) ftruncateSync(this.#fd, from);
    this.#close();
    if (from === null) rmSync(path, { force: true });
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const fd = await this.#open();
    const size = bytes.byteLength;
    for (let done = 0; done < size; ) {
      const written = await writeSome(fd, bytes.subarray(done), this.#position);
      this.#position += written;
      done += written;
    }
    this.#unsynced_bytes += size;
    if (this.#unsynced_bytes < BLOB_SYNC_EVERY_BYTES) return;
    // The disk works while the client still sends, so that little is left to flush at the end.
    this.#unsynced_bytes = 0;
    // The chunks from the network are garbage now, which the collector sees too late: 10 MB more without this
    // hint.
    Bun.gc(false);
    await flushData(fd);
  }

  async #open(): Promise<number> {
    if (this.#fd === null) {
      this.#folder_made = this.place.makeFolder();
      this.#folder_made.catch(() => {}); // finish awaits it.
      const { path, from } = this.place;
      this.#fd = await openFile(path, from === null ? NEW_FILE : ANY_FILE, 0o600);
      // What a crash left behind it was never acknowledged.
      if (from !== null) ftruncateSync(this.#fd, from);
    }
    return this.#fd;
  }

  #close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

/** A write may take only a part, as on a disk that is nearly full. */
function writeSome(fd: number, bytes: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, 0, bytes.byteLength, position, (error, written) =>
      error ? reject(error) : resolve(written),
    );
  });
}

/** Flushes a folder, so that the names in it survive a power cut. */
export async function flushFolder(path: string): Promise<void> {
  const fd = asCallerAt(path, () => openSync(path, 'r'));
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
