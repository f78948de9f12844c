/** SQL of resumable uploads. */
import { and, count, eq, gt, inArray, isNull, lte, type SQL, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawHas } from '../../platform/database/raw-sql.ts';
import { type UploadRow, uploads } from './tables.ts';

const isUnfinished = (): SQL => isNull(uploads.object_id);

export function insertUpload(tx: Tx, upload: UploadRow): void {
  tx.insert(uploads).values(upload).run();
}

export function findUpload(read: Tx, id: string): UploadRow | undefined {
  return read.select().from(uploads).where(eq(uploads.id, id)).get();
}

/** Those of a key that have not expired. */
export function countUnfinished(read: Tx, key_id: number, now_ms: number): number {
  const those = and(eq(uploads.key_id, key_id), isUnfinished(), gt(uploads.expires_at, now_ms));
  return read.select({ n: count() }).from(uploads).where(those).get()?.n ?? 0;
}

/** Bytes that are yet to come of all uploads that have not expired. */
export function sumMissing(read: Tx, now_ms: number): number {
  const bytes = sql<number>`coalesce(sum(${uploads.size_bytes} - ${uploads.offset_bytes}), 0)`;
  const those = and(isUnfinished(), gt(uploads.expires_at, now_ms));
  return read.select({ bytes }).from(uploads).where(those).get()?.bytes ?? 0;
}

export const isUnfinishedUpload = rawHas<[id: string]>(
  'SELECT 1 FROM uploads WHERE id = ? AND object_id IS NULL',
);

export function listUnfinished(read: Tx): UploadRow[] {
  return read.select().from(uploads).where(isUnfinished()).orderBy(uploads.id).all();
}

/** Those of which every byte has come. */
export function listWhole(read: Tx): UploadRow[] {
  const those = and(isUnfinished(), eq(uploads.offset_bytes, uploads.size_bytes));
  return read.select().from(uploads).where(those).orderBy(uploads.id).all();
}

export function listOfProject(read: Tx, project_id: number): UploadRow[] {
  return read.select().from(uploads).where(eq(uploads.project_id, project_id)).all();
}

export function listExpired(read: Tx, now_ms: number, limit: number): UploadRow[] {
  return read.select().from(uploads).where(lte(uploads.expires_at, now_ms)).limit(limit).all();
}

/** Whether it was still there, and unfinished. */
export function setOffset(tx: Tx, id: string, offset_bytes: number): boolean {
  const those = and(eq(uploads.id, id), isUnfinished());
  return tx.update(uploads).set({ offset_bytes }).where(those).returning({ id: uploads.id }).all().length > 0;
}

/** Whether it was still there, and unfinished. */
export function setObject(tx: Tx, id: string, object: { object_id: string; expires_at: number }): boolean {
  const those = and(eq(uploads.id, id), isUnfinished());
  return tx.update(uploads).set(object).where(those).returning({ id: uploads.id }).all().length > 0;
}

/** The rows as they were. */
export function deleteUploads(tx: Tx, ids: readonly string[]): UploadRow[] {
  return tx
    .delete(uploads)
    .where(inArray(uploads.id, [...ids]))
    .returning()
    .all();
}
