/** SQL of suppressions. */
import { and, desc, eq } from 'drizzle-orm';
import type { Tx } from '../platform/database/database.ts';
import { rawSql } from '../platform/database/raw-sql.ts';
import { readRowCount } from '../platform/database/row-counts.ts';
import { type SuppressionKind, type SuppressionRow, suppressions } from './tables.ts';

const byHash = rawSql<SuppressionRow, [number, string]>(
  'SELECT * FROM suppressions WHERE project_id = ? AND hash = ?',
);

export function findSuppression(read: Tx, project_id: number, hash: string): SuppressionRow | undefined {
  return byHash.get(read, project_id, hash) ?? undefined;
}

export function findSuppressionById(read: Tx, project_id: number, id: string): SuppressionRow | undefined {
  return read
    .select()
    .from(suppressions)
    .where(and(eq(suppressions.id, id), eq(suppressions.project_id, project_id)))
    .get();
}

export function insertSuppression(tx: Tx, row: SuppressionRow): void {
  tx.insert(suppressions).values(row).run();
}

export function setSuppressionKind(tx: Tx, id: string, kind: SuppressionKind): void {
  tx.update(suppressions).set({ kind }).where(eq(suppressions.id, id)).run();
}

/** Newest first. */
export function listSuppressions(
  read: Tx,
  project_id: number,
  page: { limit: number; offset: number },
): SuppressionRow[] {
  return read
    .select()
    .from(suppressions)
    .where(eq(suppressions.project_id, project_id))
    .orderBy(desc(suppressions.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

export function countSuppressions(read: Tx, project_id: number): number {
  return readRowCount(read, { list: 'suppressions', project_id });
}

export function deleteSuppression(tx: Tx, id: string): void {
  tx.delete(suppressions).where(eq(suppressions.id, id)).run();
}
