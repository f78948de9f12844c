/** Objects of the server's own, such as messages that came whole. Only what they belong to knows of them. */
import { AppError, notFound } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { BlobStore } from '../../platform/files/store.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { ObjectBytes } from './bytes.ts';
import { findObject, insertObject, isNoted, type NewObject } from './store.ts';
import type { ObjectRow } from './tables.ts';

interface InternalObjectsDeps {
  database: Database;
  clock: Clock;
  blobs: BlobStore;
  bytes: Pick<ObjectBytes, 'placeWritten' | 'takeBack' | 'readWhole'>;
}

const INTERNAL = { visibility: 'internal', is_utf8: false, expires_at: null } as const;
export type NewFile = Omit<NewObject, keyof typeof INTERNAL | 'store' | 'created_at'>;

export class InternalObjects {
  constructor(private readonly deps: InternalObjectsDeps) {}

  /**
   * Makes objects of bytes that are whole and durable on the disk under their ids, and stores them; `within` runs in the
   * same transaction. Throws what that does, and AppError `unavailable` where the store is away; then the bytes stay
   * where they were.
   */
  async keep(files: readonly NewFile[], within: (tx: Tx) => void): Promise<void> {
    const { clock, database, blobs, bytes } = this.deps;
    const created_at = clock.now();
    const rows: NewObject[] = [];
    try {
      for (const file of files)
        rows.push({ ...file, ...INTERNAL, store: await bytes.placeWritten(file), created_at });
      await database.write((tx) => {
        // No sweep can come between this look and the row.
        const isThere = ({ store, public_id }: NewObject): boolean =>
          store === 'local' ? blobs.has(public_id) : !isNoted(tx, public_id);
        if (!rows.every(isThere))
          throw new AppError('unavailable', 'It took too long. Try again.', { retry_after_s: 1 });
        for (const row of rows) insertObject(tx, row);
        within(tx);
      });
    } catch (error) {
      for (const row of rows) if (row.store !== 'local') await bytes.takeBack(row);
      throw error;
    }
    for (const { store, public_id } of rows) if (store !== 'local') await blobs.remove(public_id);
  }

  find(read: Tx, public_id: string): ObjectRow | null {
    const row = findObject(read, public_id);
    return row?.visibility === 'internal' ? row : null;
  }

  /** As `ObjectBytes.readWhole`. */
  async readWhole(public_id: string): Promise<Blob | ReadableStream<Uint8Array>> {
    const row = this.find(this.deps.database.read, public_id);
    if (!row) throw notFound('Message');
    return this.deps.bytes.readWhole(row);
  }
}
