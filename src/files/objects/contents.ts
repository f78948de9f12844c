/**
 * Bytes of small objects in the database itself. The commit of their row carries them, so an upload waits for
 * the disk once, together with others. A file would wait for itself, its folder and the row.
 */
import { AppError } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import { type ByteStore, CONTENTS_MAX_BYTES, type Span } from '../../platform/files/store.ts';
import { BlobUpload } from '../../platform/files/upload.ts';
import { findContents } from './store.ts';

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
