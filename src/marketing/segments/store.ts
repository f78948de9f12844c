/** SQL of segments. */
import { count, eq, inArray, type SQL } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { recordStore } from '../../platform/database/record-store.ts';
import { readRowCount } from '../../platform/database/store.ts';
import { type SegmentRow, segments as table } from './tables.ts';

export const segments = recordStore<SegmentRow>(table);

export function listSegmentsById(read: Tx, ids: readonly number[]): SegmentRow[] {
  if (ids.length === 0) return [];
  return read
    .select()
    .from(table)
    .where(inArray(table.id, [...ids]))
    .all();
}

interface Of {
  project_id: number;
  /** Of this list alone. */
  list_id: number | null;
}

// Each by an index of its own: the list's is of one project.
const isOf = ({ project_id, list_id }: Of): SQL =>
  list_id === null ? eq(table.project_id, project_id) : eq(table.list_id, list_id);

/** Newest first. */
export function listSegments(read: Tx, of: Of, page: { limit: number; offset: number }): SegmentRow[] {
  return segments.list(read, isOf(of), page);
}

export function countSegments(read: Tx, of: Of): number {
  if (of.list_id === null) return readRowCount(read, { list: 'segments', project_id: of.project_id });
  return read.select({ n: count() }).from(table).where(isOf(of)).get()?.n ?? 0;
}
