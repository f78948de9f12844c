/**
 * Moves bytes between files, the database and the store, beside a server or without. Each object is copied,
 * checked, its row switched and on disk, and only then the source is removed. Wherever it is cut off, every
 * row tells the truth, and the next run goes on with the rest.
 */
import { AppError, conflict, messageOf } from '../../errors.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Database } from '../../platform/database/database.ts';
import { type BlobStore, CONTENTS_MAX_BYTES, type StoreName } from '../../platform/files/store.ts';
import type { ObjectBytes, Pins } from './bytes.ts';
import { findObject, isNoted, listToMove, noteRemovals, setStore, sumToMove } from './store.ts';
import type { ObjectRow } from './tables.ts';

/** Decision: objects that are moved at once. */
const MOVES_AT_ONCE = 8;
const MOVES_READ = 100;

interface ObjectMovesDeps {
  database: Database;
  blobs: BlobStore;
  bytes: ObjectBytes;
  pins: Pins;
}

export interface MoveResult {
  moved: number;
  moved_bytes: number;
  /** What is still where it was, and why. */
  stayed: { public_id: string; reason: string }[];
}

export class ObjectMoves {
  constructor(private readonly deps: ObjectMovesDeps) {}

  /**
   * Moves what is elsewhere, of one project or of all. Throws AppError `conflict` without a store,
   * `unavailable` where it is another's, or away at the beginning or end. The answer tells what failed for
   * single objects.
   */
  async move(
    to: StoreName,
    {
      project_id,
      note,
      onProgress,
    }: { project_id: number | null; note: Note; onProgress(done: number, total: number): void },
  ): Promise<MoveResult> {
    const { database, bytes } = this.deps;
    const max_bytes = to === 'database' ? CONTENTS_MAX_BYTES : Number.MAX_SAFE_INTEGER;
    const what = { to, project_id, max_bytes };
    const total = sumToMove(database.read, what);
    const result: MoveResult = { moved: 0, moved_bytes: 0, stayed: [] };
    if (!bytes.store && (to === 's3' || total.stored > 0))
      throw conflict('No object store is set. Set SATCHEL_OBJECT_STORE and its keys for this command too.');
    await bytes.requirePlace(to);
    // Keys that are to go would take what is put under them along.
    if (bytes.store) await bytes.workOff();
    let done_bytes = 0;
    for (let after = 0; ; ) {
      const rows = listToMove(database.read, { ...what, after, limit: MOVES_READ });
      const last = rows.at(-1);
      if (!last) break;
      after = last.id;
      const waiting = rows.values();
      const work = async (): Promise<void> => {
        for (const row of waiting) {
          const reason = await this.#moveOne(row, to);
          if (reason === null) {
            result.moved += 1;
            result.moved_bytes += row.size_bytes;
          } else if (reason !== 'gone') result.stayed.push({ public_id: row.public_id, reason });
          done_bytes += row.size_bytes;
          onProgress(done_bytes, total.bytes);
        }
      };
      await Promise.all(Array.from({ length: MOVES_AT_ONCE }, work));
    }
    const { moved, stayed } = result;
    await database.write((tx) =>
      note(tx, { event: 'objects.moved', target: null, metadata: { to, moved, stayed: stayed.length } }),
    );
    // A server does so too, but there may be none.
    if (bytes.store && moved > 0) await bytes.workOff();
    return result;
  }

  /** Null once it is moved, else why it is not; `gone` where it was deleted meanwhile. */
  async #moveOne(row: ObjectRow, to: StoreName): Promise<string | null> {
    const { bytes, blobs } = this.deps;
    const { public_id } = row;
    try {
      // By its row the bytes are elsewhere: what stands here is of a move that was cut off.
      if (to === 'local') await blobs.remove(public_id);
      const upload = bytes.of(to).openUpload(public_id);
      try {
        for await (const chunk of bytes.chunksOf(row)) await upload.write(chunk);
        if (upload.sha256() !== row.sha256) return 'its bytes are not those that were stored';
        await upload.commit();
      } finally {
        await upload.abort(); // What was committed stays.
      }
      // The store has compared each part with its hash; the disk is read again.
      if (to === 'local' && (await this.#hashOf({ ...row, store: 'local' })) !== row.sha256) {
        await blobs.remove(public_id);
        return 'the disk does not hold what was written';
      }
      return await this.#switch(row, to, upload.held);
    } catch (error) {
      const is_gone = findObject(this.deps.database.read, public_id) === null;
      return is_gone ? 'gone' : reasonOf(error);
    }
  }

  async #hashOf(row: ObjectRow): Promise<string> {
    const hasher = new Bun.CryptoHasher('sha256');
    for await (const chunk of this.deps.bytes.chunksOf(row)) hasher.update(chunk);
    return hasher.digest('hex');
  }

  async #switch(
    { public_id, store }: ObjectRow,
    to: StoreName,
    held: Uint8Array | null,
  ): Promise<string | null> {
    const { database, blobs, pins } = this.deps;
    const outcome = await database.write((tx) => {
      const current = findObject(tx, public_id);
      if (current?.store !== store) {
        if (to === 's3' && current?.store !== 's3') noteRemovals(tx, [public_id]);
        return { reason: 'gone', is_pinned: false };
      }
      const is_swept = to === 'local' ? !blobs.has(public_id) : to === 's3' && isNoted(tx, public_id);
      if (is_swept) return { reason: 'a sweep removed its copy: run this again', is_pinned: false };
      setStore(tx, public_id, { store: to, held });
      if (store === 's3') noteRemovals(tx, [public_id]);
      // A mail on its way may be reading the file; it goes with the mail's end.
      return { reason: null, is_pinned: pins.isPinned(tx, public_id) };
    });
    if (outcome.reason === 'gone' && to === 'local' && !findObject(database.read, public_id))
      await blobs.remove(public_id);
    if (outcome.reason === null && store === 'local' && !outcome.is_pinned) await blobs.remove(public_id);
    return outcome.reason;
  }
}

/** What an operator is told; that of the store is behind what its clients are. */
function reasonOf(error: unknown): string {
  return messageOf(error instanceof AppError && error.cause instanceof Error ? error.cause : error);
}
