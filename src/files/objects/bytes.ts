/**
 * The bytes of objects, wherever they are: each row says whether in a file, the database or the store. What
 * is to go from the store is noted in the change that lets go of it; nothing else is ever removed there.
 */
import { randomUUID } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf, notFound } from '../../errors.ts';
import { STORE_RETRY_AFTER_S, SWEEP_BATCH } from '../../limits.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { StoreFault } from '../../platform/files/s3-requests.ts';
import type { S3Store } from '../../platform/files/s3-store.ts';
import {
  type BlobStore,
  type ByteStore,
  bytesMissing,
  CONTENTS_MAX_BYTES,
  type Span,
  type StoreName,
} from '../../platform/files/store.ts';
import { readHold } from '../../platform/files/store-hold.ts';
import { BlobUpload } from '../../platform/files/upload.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { spool, writeStream } from './spool.ts';
import {
  deleteRemovals,
  findContents,
  findObject,
  hasPinnedContents,
  isNoted,
  listKnownIds,
  listNewestStored,
  listRemovals,
  noteRemovals,
  saveContents,
  setMissing,
} from './store.ts';
import type { ObjectRow } from './tables.ts';

/** Decision: how long keys without a row are left alone in the store. */
export const STORE_SETTLE_MS = 3_600_000;

/** Says which bytes must stay though their object is gone: attachments of mails that wait to be sent. */
export interface Pins {
  isPinned(tx: Tx, public_id: string): boolean;
}

export interface ObjectBytesDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  blobs: BlobStore;
  object_store: S3Store | null;
  pins: Pins;
  ownership: {
    /** Whether the store is surely ours alone. */
    readonly may_remove: boolean;
    /** Whether it is another's. */
    readonly state: string;
    /** Throws AppError `unavailable` where nothing may be put into it. */
    refuseForeign(): Promise<void>;
  };
  config: { data_dir: string };
}

/** Objects of which one must be in a store for its files to be known: single ones may be lost. */
const LOOKED_FOR = 8;
/** Removals at once: a deleted project's files go in minutes, and downloads keep most of the connections. */
const REMOVALS_AT_ONCE = 8;

type Located = Pick<ObjectRow, 'public_id' | 'size_bytes' | 'store' | 'missing_since'>;

export class ObjectBytes {
  readonly #fetched: string;
  readonly #contents: ContentStore;
  /** Removals are worked off by a server alone; while one runs, another round is only asked for. */
  #removing: Promise<void> | null = null;
  #is_asked_again = false;
  #serves = false;
  #stopping = false;

  constructor(private readonly deps: ObjectBytesDeps) {
    this.#fetched = join(deps.config.data_dir, 'fetched');
    this.#contents = new ContentStore(deps.database);
  }

  /** Where new uploads go, but for the small ones of `openUpload`. */
  get current(): ByteStore {
    return this.deps.object_store ?? this.deps.blobs;
  }

  /**
   * Starts an upload of a new object. What is `held` in the end goes into the database with the row; else it
   * is in `store`. Throws AppError `unavailable` where the store is another's.
   */
  async openUpload(id: string): Promise<{ upload: BlobUpload; store: StoreName }> {
    const { blobs, object_store: store } = this.deps;
    if (!store) return { upload: blobs.openUpload(id, CONTENTS_MAX_BYTES), store: blobs.name };
    await this.requirePlace(store.name);
    return { upload: store.openUpload(id), store: store.name };
  }

  /**
   * Stores bytes that are whole on the disk under their id, and says where. The copy on the disk is the
   * caller's to remove. Throws AppError `unavailable` while the store is away or another's.
   */
  async placeWritten({ public_id, sha256 }: Pick<ObjectRow, 'public_id' | 'sha256'>): Promise<StoreName> {
    const { current } = this;
    if (current.name === 'local') return current.name;
    const { upload } = await this.openUpload(public_id);
    try {
      for await (const chunk of createReadStream(this.deps.blobs.path(public_id))) await upload.write(chunk);
      if (upload.sha256() !== sha256)
        throw new AppError('internal', 'The disk does not hold what was written.');
      await upload.commit();
    } finally {
      await upload.abort(); // What was committed stays.
    }
    return current.name;
  }

  /** Keeps what an upload held for an object whose row is there. */
  async keep(public_id: string, held: Uint8Array): Promise<void> {
    await this.deps.database.write((tx) => saveContents(tx, public_id, held));
  }

  /** Before bytes are put anywhere. Throws AppError `unavailable` where the store is another's. */
  async requirePlace(name: StoreName): Promise<void> {
    if (name === 's3') await this.deps.ownership.refuseForeign();
  }

  get store(): S3Store | null {
    return this.deps.object_store;
  }

  /** Throws AppError `unavailable` where no store is set though bytes are in one. */
  of(name: StoreName): ByteStore {
    if (name === 'local') return this.deps.blobs;
    if (name === 'database') return this.#contents;
    if (this.deps.object_store) return this.deps.object_store;
    throw new AppError('unavailable', 'This file is in an object store, and none is set.', {
      retry_after_s: STORE_RETRY_AFTER_S,
      code: 'no_object_store',
    });
  }

  /**
   * Streams bytes of an object. Throws AppError `unavailable` while the store is away. Bytes that are gone
   * have the code `bytes_missing`: `internal` for the store, of which doctor then tells, `not_found` for the
   * disk.
   */
  async read(row: Located, span: Span): Promise<Blob | ReadableStream<Uint8Array>> {
    const { database, clock, logger } = this.deps;
    const bytes = await this.of(row.store).read(row.public_id, span);
    if (bytes && row.missing_since === null) return bytes;
    if (bytes) {
      await database.write((tx) => setMissing(tx, row.public_id, null));
      return bytes;
    }
    const current = findObject(database.read, row.public_id);
    // Deleted, or moved, since its row was read.
    if (!current) throw notFound('Object');
    if (current.store !== row.store) return this.read(current, span);
    logger.error('stored file missing', { public_id: row.public_id, store: row.store });
    if (row.store !== 's3') throw bytesMissing('not_found');
    if (row.missing_since === null) await database.write((tx) => setMissing(tx, row.public_id, clock.now()));
    throw bytesMissing('internal');
  }

  /** All bytes of an object, for an answer that tells how many those are. Throws as `read` and `spool` do. */
  async readWhole(row: Located): Promise<Blob | ReadableStream<Uint8Array>> {
    const { size_bytes } = row;
    const bytes = await this.read(row, { start: 0, end: size_bytes, size_bytes });
    return bytes instanceof Blob ? bytes : spool(bytes, { size_bytes, folder: this.#fetched });
  }

  /** The bytes from one on, for what reads a file through. Throws as `read` does. */
  async *chunksOf(row: Located, from = 0): AsyncGenerator<Uint8Array> {
    const { public_id, size_bytes, store } = row;
    if (store === 'local') {
      yield* createReadStream(this.deps.blobs.path(public_id), { start: from });
      return;
    }
    if (from >= size_bytes && size_bytes > 0) return;
    const bytes = await this.read(row, { start: from, end: size_bytes, size_bytes });
    yield* bytes instanceof Blob ? bytes.stream() : bytes;
  }

  /**
   * Calls `work` with the paths of files with these bytes: their own on the disk, or temporary copies from
   * the database or the store. Pinned bytes of a deleted object are found, too. Throws AppError `unavailable`
   * while the store is away, `not_found` with the code `bytes_missing` where they are gone.
   */
  async withFiles<T>(
    files: readonly { public_id: string; size_bytes: number }[],
    work: (paths: ReadonlyMap<string, string>) => Promise<T>,
  ): Promise<T> {
    const copies: string[] = [];
    try {
      const paths = new Map<string, string>();
      for (const file of files) {
        const { public_id } = file;
        const store = this.#storeOf(public_id);
        if (store === 'local') {
          paths.set(public_id, this.deps.blobs.path(public_id));
          continue;
        }
        const copy = join(this.#fetched, randomUUID());
        copies.push(copy);
        await this.#fetch(file, store, copy);
        paths.set(public_id, copy);
      }
      return await work(paths);
    } finally {
      for (const copy of copies) rmSync(copy, { force: true });
    }
  }

  #storeOf(public_id: string): StoreName {
    const { read } = this.deps.database;
    const row = findObject(read, public_id);
    if (row) return row.store;
    if (isNoted(read, public_id)) return 's3';
    return hasPinnedContents(read, public_id) ? 'database' : 'local';
  }

  async #fetch(
    { public_id, size_bytes }: { public_id: string; size_bytes: number },
    store: StoreName,
    path: string,
  ): Promise<void> {
    const span = { start: 0, end: size_bytes, size_bytes };
    const bytes = await this.of(store).read(public_id, span);
    if (!bytes) throw bytesMissing('not_found');
    await writeStream(path, bytes instanceof Blob ? bytes.stream() : bytes);
  }

  /** Removes bytes of objects whose rows are gone: of the disk now, of the store when it takes that. */
  async removeLocal(public_ids: readonly string[]): Promise<void> {
    for (const id of public_ids) await this.deps.blobs.remove(id);
    this.wake();
  }

  /** Takes back what was stored for a row that was never written. */
  async takeBack({ public_id, store }: Pick<ObjectRow, 'public_id' | 'store'>): Promise<void> {
    const removed = this.of(store).remove(public_id);
    // What the store does not take now, the sweep finds.
    if (store === 's3') removed.catch(() => {});
    else await removed;
  }

  /* --- What goes from the store ------------------------------------------------------------------------------- */

  /** Begins to work off removals, at once and whenever it is woken; copies that a crash left go too. */
  start(): void {
    this.#serves = true;
    rmSync(this.#fetched, { recursive: true, force: true });
    this.wake();
  }

  /** There may be something to remove. */
  wake(): void {
    if (!this.#serves || !this.deps.object_store || !this.deps.ownership.may_remove) return;
    if (this.#removing) {
      this.#is_asked_again = true;
      return;
    }
    this.#removing = this.workOff()
      .catch((error: unknown) => this.deps.logger.warn('bytes not removed', { error: messageOf(error) }))
      .then(() => {
        this.#removing = null;
        if (!this.#is_asked_again) return;
        this.#is_asked_again = false;
        this.wake();
      });
  }

  /** What is under way is left: it stays noted, and the next start goes on. */
  stop(): void {
    this.#serves = false;
    this.#stopping = true;
  }

  /** Removes what was noted, without what waiting mails need. Throws AppError `unavailable` of the store. */
  async workOff(): Promise<void> {
    const { database, pins } = this.deps;
    const store = this.of('s3');
    for (let after = ''; !this.#stopping; ) {
      const ids = listRemovals(database.read, { after, limit: SWEEP_BATCH });
      const last = ids.at(-1);
      if (last === undefined) return;
      after = last;
      const free = ids.filter((id) => !pins.isPinned(database.read, id));
      for (let from = 0; from < free.length; from += REMOVALS_AT_ONCE) {
        const some = free.slice(from, from + REMOVALS_AT_ONCE);
        const ends = await Promise.allSettled(some.map((id) => store.remove(id)));
        const gone = some.filter((_, index) => ends[index]?.status === 'fulfilled');
        if (this.#stopping) return;
        if (gone.length > 0) await database.write((tx) => deleteRemovals(tx, gone));
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
      }
    }
  }

  /** Each minute: how the store is, and what waits for it. */
  async tend(): Promise<void> {
    const { object_store, ownership } = this.deps;
    if (ownership.state !== 'foreign') await object_store?.probe();
    this.wake();
  }

  /** As `sweepStore`, by the clock: what the store refuses is for doctor to tell, and for the next day. */
  async sweepStoreDaily(): Promise<void> {
    try {
      await this.sweepStore();
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error;
      this.deps.logger.warn('the object store was not swept', { reason: error.reason });
    }
  }

  /** Notes keys without a row, and aborts uploads that nobody finishes; answers how many keys there were. */
  async sweepStore(): Promise<number> {
    const { database, clock, object_store, ownership } = this.deps;
    if (!object_store || !ownership.may_remove) return 0;
    if (readHold(database.read, clock.now())) return 0;
    // Whoever knows none of the files there must not judge which of them are nobody's.
    if (!(await hasObjectIn(database.read, object_store))) return 0;
    let noted = 0;
    for await (const { keys, now_ms } of object_store.listKeys()) {
      const settled = keys.filter(({ modified_ms }) => modified_ms < now_ms - STORE_SETTLE_MS);
      const lost = this.#withoutRow(
        database.read,
        settled.map(({ id }) => id),
      );
      if (lost.length === 0) continue;
      noted += await database.write((tx) => {
        // Within a write no row can be added, and one that is added later sees the note.
        const gone = this.#withoutRow(tx, lost);
        noteRemovals(tx, gone);
        return gone.length;
      });
    }
    this.wake();
    await object_store.abortUnfinished();
    return noted;
  }

  /** Keys that no row names. Those of pinned bytes are noted already. */
  #withoutRow(tx: Tx, ids: readonly string[]): string[] {
    const known = new Set(listKnownIds(tx, 's3', ids));
    return ids.filter((id) => !known.has(id) && !isNoted(tx, id));
  }
}

/** Whether the store has bytes of any object of the database, by the newest ones. Throws StoreFault. */
export async function hasObjectIn(read: Tx, store: S3Store): Promise<boolean> {
  for (const id of listNewestStored(read, LOOKED_FOR)) if ((await store.sizeOf(id)) !== null) return true;
  return false;
}

export class ContentStore implements ByteStore {
  readonly name = 'database';

  constructor(private readonly database: Pick<Database, 'read'>) {}

  /**
   * Starts an upload that holds its bytes; the caller writes them with the row. Throws AppError `invalid`
   * where they are too many.
   */
  openUpload(id: string): BlobUpload {
    const refuse = async (): Promise<never> => {
      throw new AppError('invalid', `The database keeps files of at most ${CONTENTS_MAX_BYTES} bytes.`);
    };
    const sink = { piece_bytes: CONTENTS_MAX_BYTES, append: refuse, finish: refuse, discard() {} };
    return new BlobUpload(id, sink, undefined, CONTENTS_MAX_BYTES);
  }

  async read(id: string, { start, end }: Span): Promise<Blob | null> {
    const bytes = findContents(this.database.read, id);
    return bytes && new Blob([bytes.subarray(start, end)]);
  }

  /** Does nothing: the bytes went with their row. */
  async remove(): Promise<void> {}
}
