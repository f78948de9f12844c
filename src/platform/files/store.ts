/**
 * The bytes of stored objects: a file for each, named by its ULID, in `objects/XX/` after the id's last two
 * characters, which are random and fill the folders evenly. An upload has its final name from its first byte
 * on, and counts for nothing until its row is written.
 */

import { existsSync, mkdirSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, errorCodeOf } from '../../errors.ts';
import { UPLOAD_DEADLINE_MS } from '../../limits.ts';
import { type Clock, monotonicMs, systemClock } from '../host/clock.ts';
import { makeFolder } from '../host/folders.ts';
import { isUlid } from '../host/ids.ts';
import { DISK_BOUNDS_S, Histogram } from '../host/measures.ts';
import type { ContentFacts } from './content-facts.ts';
import { FileSink, flushFolder } from './file-sink.ts';
import { BlobUpload } from './upload.ts';

/** A sweep rests so many times as long as it works: 130,000 files take 6 s that uploads hardly notice. */
const BLOB_SWEEP_RESTS = 9;
/** A sweep leaves bytes without a row alone for this long: four times what the slowest upload may take. */
export const BLOB_SETTLE_MS = 4 * UPLOAD_DEADLINE_MS;

/** Crockford's base 32, which ULIDs are written in. */
const DIGITS = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
const FOLDER_NAMES = DIGITS.flatMap((first) => DIGITS.map((second) => first + second));
const FOLDER_NAME = /^[0-9A-HJKMNP-TV-Z]{2}$/;

/** Where the bytes of an id are, or would be. */
export function blobPathOf(dir: string, id: string): string {
  // An id becomes a path here, so this is where anything that is no id must end.
  if (!isUlid(id) || id !== id.toUpperCase()) throw new Error('a blob is named by an upper-case ULID');
  return join(rootOf(dir), folderOf(id), id);
}

/** The bytes of an object for reading, as the caller's file descriptor; null where they are gone. */
export function openBlob(dir: string, id: string): number | null {
  try {
    return openSync(blobPathOf(dir, id), 'r');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Every file that stands in a folder for bytes. */
export function* listBlobFiles(dir: string): Generator<{ folder: string; id: string }> {
  const root = rootOf(dir);
  if (!existsSync(root)) return;
  for (const folder of readdirSync(root)) {
    if (!FOLDER_NAME.test(folder)) continue;
    for (const id of readdirSync(join(root, folder))) yield { folder, id };
  }
}

function rootOf(dir: string): string {
  return join(dir, 'objects');
}

function folderOf(id: string): string {
  return id.slice(-2);
}

export class BlobStore implements ByteStore {
  readonly name = 'local';
  /** How long the disk took over each upload. */
  readonly syncs = new Histogram(DISK_BOUNDS_S);
  readonly #root: string;
  readonly #opened_ms: number;
  /** Folders that exist; the promise resolves once the folder's own name is durable. */
  readonly #folders = new Map<string, Promise<void>>();

  /**
   * Opens the store below `dir` (the data directory), and makes its folder with mode 0700. The clock is
   * compared with files' times, which are the system's.
   */
  constructor(
    private readonly dir: string,
    private readonly clock: Clock = systemClock,
  ) {
    this.#opened_ms = clock.now();
    this.#root = rootOf(dir);
    makeFolder(this.#root);
  }

  /**
   * Makes all folders in the background of a server's start: making one during an upload costs more than that
   * upload's bytes. Nothing depends on it.
   */
  async makeFolders(): Promise<void> {
    const there = new Set(await readdir(this.#root));
    for (const name of FOLDER_NAMES) {
      if (there.has(name)) continue;
      await mkdir(join(this.#root, name), { mode: 0o700 }).catch((error: unknown) => {
        if (errorCodeOf(error) !== 'EEXIST') throw error; // An upload needed it meanwhile.
      });
    }
    await flushFolder(this.#root);
    for (const name of FOLDER_NAMES) this.#folders.set(name, Promise.resolve());
  }

  /**
   * Starts an upload; end it with `commit` or `abort`. It touches the disk when there is something to write.
   * One of at most `hold_bytes` stays in `held`.
   */
  openUpload(id: string, hold_bytes: number | null = null): BlobUpload {
    return new BlobUpload(id, this.#sinkFor(id, null), undefined, hold_bytes);
  }

  /**
   * As `openUpload`, for bytes that come in several goes. These follow the file's first `from` bytes, which
   * are durable, and `facts` go on. Aborting cuts them off again.
   */
  continueUpload(id: string, { from, facts }: { from: number; facts: ContentFacts | null }): BlobUpload {
    return new BlobUpload(id, this.#sinkFor(id, from), facts);
  }

  #sinkFor(id: string, from: number | null): FileSink {
    const makeFolder = () => this.#makeFolder(folderOf(id));
    const { syncs } = this;
    return new FileSink({
      folder: join(this.#root, folderOf(id)),
      path: this.path(id),
      from,
      makeFolder,
      syncs,
    });
  }

  path(id: string): string {
    return blobPathOf(this.dir, id);
  }

  /** The bytes, read from disk as they are sent. */
  async read(id: string, { start, end, size_bytes }: Span): Promise<Blob | null> {
    if (!this.has(id)) return null;
    const file = Bun.file(this.path(id));
    return start === 0 && end === size_bytes ? file : file.slice(start, end);
  }

  /** Deletes the bytes of an id whose row is gone. Missing bytes are no error. */
  async remove(id: string): Promise<void> {
    await rm(this.path(id), { force: true });
  }

  /** Ids of all files, by folder, with rests between them that leave the machine to requests. */
  async *listIds(): AsyncGenerator<string[]> {
    let worked_ms = 0;
    for (const folder of await readdir(this.#root)) {
      if (!FOLDER_NAME.test(folder)) continue;
      const names = await readdir(join(this.#root, folder));
      const started_ms = monotonicMs();
      yield names.filter((id) => isUlid(id) && id.endsWith(folder) && id === id.toUpperCase());
      worked_ms += monotonicMs() - started_ms;
      if (worked_ms < 1) continue;
      await Bun.sleep(BLOB_SWEEP_RESTS * worked_ms);
      worked_ms = 0;
    }
  }

  /**
   * Whether bytes without a row are left of a crash: unchanged since this store was opened, and for an hour.
   * An upload under way in any process has changed since, so it stays.
   */
  isLeftover(id: string): boolean {
    const changed_ms = statSync(this.path(id), { throwIfNoEntry: false })?.mtimeMs;
    const settled_ms = Math.max(this.#opened_ms, this.clock.now() - BLOB_SETTLE_MS);
    return changed_ms !== undefined && changed_ms < settled_ms;
  }

  /** How long the file of an id is; null where it has none. */
  sizeOf(id: string): number | null {
    return statSync(this.path(id), { throwIfNoEntry: false })?.size ?? null;
  }

  /** Whether an id has a file. */
  has(id: string): boolean {
    return existsSync(this.path(id));
  }

  /** As `remove`, but synchronous: for where nothing may happen between looking at the rows and this. */
  removeNow(id: string): void {
    rmSync(this.path(id), { force: true });
  }

  #makeFolder(name: string): Promise<void> {
    const known = this.#folders.get(name);
    if (known) return known;
    try {
      mkdirSync(join(this.#root, name), { mode: 0o700 });
    } catch (error) {
      // Another upload's, or an earlier process's, which may have ended before the name was durable.
      if (errorCodeOf(error) !== 'EEXIST') throw error;
    }
    const durable = flushFolder(this.#root);
    this.#folders.set(name, durable);
    // The next upload into this folder tries the flush again.
    durable.catch(() => this.#folders.delete(name));
    return durable;
  }
}

/** The folder for files in the data directory, the database there, and an object store over the network. */
export type StoreName = 'local' | 'database' | 's3';

/** The largest object in the database: 64 KiB. A larger one costs the log more than its own file would. */
export const CONTENTS_MAX_BYTES = 64 * 1024;

/** Bytes from `start` up to and without `end`, of `size_bytes` in all. */
export interface Span {
  start: number;
  end: number;
  size_bytes: number;
}

/** Bytes by the id of their object. What can't be reached is AppError `unavailable`. */
export interface ByteStore {
  readonly name: StoreName;
  /** Starts an upload; end it with `commit` or `abort`. */
  openUpload(id: string): BlobUpload;
  /** Bytes, read as they are taken; null where there are none under the id. */
  read(id: string, span: Span): Promise<Blob | ReadableStream<Uint8Array> | null>;
  /** Removes what there is under an id. Missing bytes are no error. */
  remove(id: string): Promise<void>;
}

/** Bytes that should be there, and are not: `internal` where that is our fault alone. */
export function bytesMissing(kind: 'internal' | 'not_found'): AppError {
  return new AppError(kind, 'The bytes of the file are missing.', { code: 'bytes_missing' });
}
