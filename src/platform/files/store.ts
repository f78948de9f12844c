/**
 * The bytes of stored objects: one file for each, named by its ULID, in `objects/XX/` after the id's last two characters,
 * which are random and so fill the folders evenly. Partial uploads are in `objects/tmp/`, on the same file system.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isNativeError } from 'node:util/types';
import { BLOB_SETTLE_MS, BLOB_SWEEP_BATCH } from '../../limits.ts';
import { monotonicMs, systemClock } from '../host/clock.ts';
import { isUlid } from '../host/ids.ts';
import { BlobBuffers, type BlobUpload, FileUpload, flushFolder } from './upload.ts';
import { BlobThread } from './upload-thread.ts';

export type { BlobUpload };

/** Which of a batch of ids have rows. */
export type KeepIds = (ids: string[]) => ReadonlySet<string>;

export interface BlobStore {
  /**
   * Makes all folders ahead of the uploads that need them, in the background of a server's start: making one in the
   * middle of an upload costs that upload more than its bytes. Nothing depends on it having been called.
   */
  makeFolders(): Promise<void>;
  /** Starts an upload. It touches the disk only when there is something to write; end it with `commit` or `abort`. */
  openUpload(): BlobUpload;
  /** Where the bytes of an id are, or would be. */
  path(id: string): string;
  /** Size of the stored bytes, or null when there are none. */
  stat(id: string): Promise<{ size_bytes: number } | null>;
  /** The bytes, or those from `start` up to and without `end`, read from disk as they are sent. */
  read(id: string, range?: { start: number; end: number }): Blob;
  /** Deletes the bytes of an id whose row is gone. Bytes that are missing are fine. */
  remove(id: string): Promise<void>;
  /**
   * Deletes partial uploads and bytes without a row, in batches. What this process is uploading, or has just committed
   * so that its row may not be written yet, stays. Files changed less than `older_than_ms` ago stay too. Returns how
   * many files it deleted.
   */
  sweep(keepIds: KeepIds, options?: { older_than_ms?: number }): Promise<number>;
}

/** Crockford's base 32, which ULIDs are written in. */
const DIGITS = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
const FOLDER_NAMES = DIGITS.flatMap((first) => DIGITS.map((second) => first + second));
const FOLDER_NAME = /^[0-9A-HJKMNP-TV-Z]{2}$/;
const TEMP_FOLDER = 'tmp';

/** Opens the store below `dir` (the data directory), making its folders with mode 0700 where they are missing. */
export function createBlobStore(dir: string): BlobStore {
  return new FileBlobStore(dir);
}

/** Where the bytes of an id are, or would be, for what works on the files without a store, which would make folders. */
export function blobPathOf(dir: string, id: string): string {
  // An id becomes a path here, so this is where anything that is no id must end.
  if (!isUlid(id) || id !== id.toUpperCase()) throw new Error('a blob is named by an upper-case ULID');
  return join(rootOf(dir), folderOf(id), id);
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

class FileBlobStore implements BlobStore {
  readonly #dir: string;
  readonly #root: string;
  /** Folders known to exist; the promise resolves once the folder's own name is durable. */
  readonly #folders = new Map<string, Promise<void>>();
  /** Names in the temporary folder that uploads of this process own. */
  readonly #uploading = new Set<string>();
  /** Ids being committed (null), or committed at that monotonic time, whose rows no sweep has seen yet. */
  readonly #unsettled = new Map<string, number | null>();
  /** Folders being flushed, and the flush after that which others wait for. */
  readonly #flushes = new Map<string, { running: Promise<void>; next: Promise<void> | null }>();
  readonly #thread = new BlobThread();
  readonly #buffers = new BlobBuffers();
  #upload_count = 0;

  constructor(dir: string) {
    this.#dir = dir;
    const root = rootOf(dir);
    this.#root = root;
    mkdirSync(join(root, TEMP_FOLDER), { recursive: true, mode: 0o700 });
    for (const name of readdirSync(root)) {
      if (FOLDER_NAME.test(name)) this.#folders.set(name, Promise.resolve());
    }
  }

  async makeFolders(): Promise<void> {
    const missing = FOLDER_NAMES.filter((name) => !this.#folders.has(name));
    if (missing.length === 0) return;
    for (const name of missing) {
      await mkdir(join(this.#root, name), { mode: 0o700 }).catch((error: unknown) => {
        if (!hasCode(error, 'EEXIST')) throw error; // An upload needed it meanwhile.
      });
    }
    await this.#flushFolder(this.#root);
    for (const name of missing) this.#folders.set(name, Promise.resolve());
  }

  openUpload(): BlobUpload {
    this.#upload_count += 1;
    // Crash leftovers of an earlier process may still be there: the random part keeps the names apart.
    const name = `${this.#upload_count}-${crypto.randomUUID()}`;
    this.#uploading.add(name);
    let prepared_id: string | null = null;
    return new FileUpload({
      thread: this.#thread,
      buffers: this.#buffers,
      temp_path: join(this.#root, TEMP_FOLDER, name),
      prepareHome: (id) => {
        const path = this.path(id);
        prepared_id = id;
        this.#unsettled.set(id, null);
        this.#makeFolder(folderOf(id));
        return path;
      },
      flushHome: async (id) => {
        await this.#flushFolder(join(this.#root, folderOf(id)));
        await this.#folders.get(folderOf(id));
      },
      onEnd: (id) => {
        this.#uploading.delete(name);
        if (id !== null) this.#settleLater(id);
        else if (prepared_id !== null) this.#unsettled.delete(prepared_id);
      },
    });
  }

  path(id: string): string {
    return blobPathOf(this.#dir, id);
  }

  async stat(id: string): Promise<{ size_bytes: number } | null> {
    try {
      return { size_bytes: (await stat(this.path(id))).size };
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
  }

  read(id: string, range?: { start: number; end: number }): Blob {
    const file = Bun.file(this.path(id));
    return range ? file.slice(range.start, range.end) : file;
  }

  async remove(id: string): Promise<void> {
    await rm(this.path(id), { force: true });
    this.#unsettled.delete(id);
  }

  async sweep(keepIds: KeepIds, options: { older_than_ms?: number } = {}): Promise<number> {
    const older_than_ms = options.older_than_ms ?? 0;
    // File times come from the system's clock, so they are compared with that one.
    const changed_before_ms =
      older_than_ms > 0 ? systemClock.now() - older_than_ms : Number.POSITIVE_INFINITY;
    let removed = 0;
    for (const name of await readdir(join(this.#root, TEMP_FOLDER))) {
      if (this.#uploading.has(name)) continue;
      if (await removeOld(join(this.#root, TEMP_FOLDER, name), changed_before_ms)) removed += 1;
    }
    let batch: string[] = [];
    const sweepBatch = async (): Promise<void> => {
      removed += await this.#sweepBatch(batch, keepIds, changed_before_ms);
      batch = [];
    };
    for (const folder of await readdir(this.#root)) {
      if (!FOLDER_NAME.test(folder)) continue;
      for (const id of await readdir(join(this.#root, folder))) {
        if (isUlid(id) && id.endsWith(folder) && id === id.toUpperCase()) batch.push(id);
        if (batch.length >= BLOB_SWEEP_BATCH) await sweepBatch();
      }
    }
    await sweepBatch();
    return removed;
  }

  async #sweepBatch(ids: string[], keepIds: KeepIds, changed_before_ms: number): Promise<number> {
    if (ids.length === 0) return 0;
    // Looked up before the rows are: an upload may commit, write its row and be forgotten in between otherwise.
    const unsettled = new Set(ids.filter((id) => this.#isUnsettled(id)));
    const kept = keepIds(ids);
    let removed = 0;
    for (const id of ids) {
      if (kept.has(id)) {
        if (this.#unsettled.get(id) !== null) this.#unsettled.delete(id);
      } else if (!unsettled.has(id) && (await removeOld(this.path(id), changed_before_ms))) {
        removed += 1;
      }
    }
    return removed;
  }

  #isUnsettled(id: string): boolean {
    const committed_ms = this.#unsettled.get(id);
    if (committed_ms === undefined) return false;
    return committed_ms === null || monotonicMs() - committed_ms < BLOB_SETTLE_MS;
  }

  /** The row is written soon after the commit, but nobody says when; the oldest ids come first in the map. */
  #settleLater(id: string): void {
    const now = monotonicMs();
    this.#unsettled.delete(id);
    this.#unsettled.set(id, now);
    for (const [old_id, committed_ms] of this.#unsettled) {
      if (committed_ms === null) continue;
      if (now - committed_ms < BLOB_SETTLE_MS) break;
      this.#unsettled.delete(old_id);
    }
  }

  #makeFolder(name: string): void {
    if (this.#folders.has(name)) return;
    try {
      mkdirSync(join(this.#root, name), { mode: 0o700 });
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    const durable = this.#flushFolder(this.#root);
    this.#folders.set(name, durable);
    // The next upload into this folder tries the flush again.
    durable.catch(() => this.#folders.delete(name));
  }

  /** Makes the names in a folder durable. Who asks while a flush is under way shares the next one with the others. */
  #flushFolder(path: string): Promise<void> {
    const flushes = this.#flushes.get(path);
    if (flushes === undefined) {
      const running = flushFolder(path).finally(() => this.#flushes.delete(path));
      this.#flushes.set(path, { running, next: null });
      return running;
    }
    // Names given after a flush has begun may not be in it.
    flushes.next ??= flushes.running.then(
      () => this.#flushFolder(path),
      () => this.#flushFolder(path),
    );
    return flushes.next;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return isNativeError(error) && 'code' in error && error.code === code;
}

/** Deletes a file that was last changed before the moment; says whether it did. */
async function removeOld(path: string, changed_before_ms: number): Promise<boolean> {
  try {
    if (Number.isFinite(changed_before_ms) && (await stat(path)).mtimeMs > changed_before_ms) return false;
    await rm(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
