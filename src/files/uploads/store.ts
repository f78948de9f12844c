/** SQL of resumable uploads. */
import { inArray } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawGet, rawHas, rawRun } from '../../platform/database/raw-sql.ts';
import { type UploadRow, uploads } from './tables.ts';

export function insertUpload(tx: Tx, upload: UploadRow): void {
  tx.insert(uploads).values(upload).run();
}

export const findUpload = rawGet<UploadRow, [id: string]>('SELECT * FROM uploads WHERE id = ?', uploads);

/** Those of a key that have not expired. */
export const countUnfinished = rawCount<[key_id: number, now_ms: number]>(
  'SELECT count(*) FROM uploads WHERE key_id = ? AND object_id IS NULL AND expires_at > ?',
);

/** Bytes that are yet to come of all uploads that have not expired. */
export const sumMissing = rawCount<[now_ms: number]>(
  'SELECT sum(size_bytes - offset_bytes) FROM uploads WHERE object_id IS NULL AND expires_at > ?',
);

export const isUnfinishedUpload = rawHas<[id: string]>(
  'SELECT 1 FROM uploads WHERE id = ? AND object_id IS NULL',
);

export const listUnfinished = rawAll<UploadRow>(
  'SELECT * FROM uploads WHERE object_id IS NULL ORDER BY id',
  uploads,
);

/** Those of which every byte has come. */
export const listWhole = rawAll<UploadRow>(
  'SELECT * FROM uploads WHERE object_id IS NULL AND offset_bytes = size_bytes ORDER BY id',
  uploads,
);

export const listOfProject = rawAll<UploadRow, [project_id: number]>(
  'SELECT * FROM uploads WHERE project_id = ?',
  uploads,
);

export const listExpired = rawAll<UploadRow, [now_ms: number, limit: number]>(
  'SELECT * FROM uploads WHERE expires_at <= +? LIMIT +?',
  uploads,
);

/** Notes how much has come; 0 where the upload is gone, or finished. */
export const setOffset = rawRun<[{ id: string; offset_bytes: number }]>(
  'UPDATE uploads SET offset_bytes = :offset_bytes WHERE id = :id AND object_id IS NULL',
);

/** Notes which object it has become; 0 where the upload is gone, or finished. */
export const setObject = rawRun<[{ id: string; object_id: string; expires_at: number }]>(
  'UPDATE uploads SET object_id = :object_id, expires_at = :expires_at WHERE id = :id AND object_id IS NULL',
);

/** The rows as they were. */
export function deleteUploads(tx: Tx, ids: readonly string[]): UploadRow[] {
  return tx
    .delete(uploads)
    .where(inArray(uploads.id, [...ids]))
    .returning()
    .all();
}
