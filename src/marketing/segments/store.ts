/** SQL of segments. */
import { and, count, desc, eq, inArray, type SQL } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { readRowCount } from '../../platform/database/row-counts.ts';
import { type SegmentRow, segments } from './tables.ts';

const one = (read: Tx, where: SQL | undefined): SegmentRow | undefined =>
  read.select().from(segments).where(where).get();

export function findSegment(read: Tx, project_id: number, public_id: string): SegmentRow | undefined {
  return one(read, and(eq(segments.project_id, project_id), eq(segments.public_id, public_id)));
}

/** Of whatever project. */
export function findAnySegment(read: Tx, public_id: string): SegmentRow | undefined {
  return one(read, eq(segments.public_id, public_id));
}

export function listSegmentsById(read: Tx, ids: readonly number[]): SegmentRow[] {
  if (ids.length === 0) return [];
  return read
    .select()
    .from(segments)
    .where(inArray(segments.id, [...ids]))
    .all();
}

interface Of {
  project_id: number;
  /** Of this list alone. */
  list_id: number | null;
}

// Each by an index of its own: the list's is of one project.
const isOf = ({ project_id, list_id }: Of): SQL =>
  list_id === null ? eq(segments.project_id, project_id) : eq(segments.list_id, list_id);

const newestFirst = (read: Tx, where: SQL | undefined) =>
  read.select().from(segments).where(where).orderBy(desc(segments.id));

/** Newest first. */
export function listSegmentsCalled(read: Tx, project_id: number, name: string): SegmentRow[] {
  return newestFirst(read, and(eq(segments.project_id, project_id), eq(segments.name, name))).all();
}

/** Newest first. */
export function listSegments(read: Tx, of: Of, page: { limit: number; offset: number }): SegmentRow[] {
  return newestFirst(read, isOf(of)).limit(page.limit).offset(page.offset).all();
}

export function countSegments(read: Tx, of: Of): number {
  if (of.list_id === null) return readRowCount(read, { list: 'segments', project_id: of.project_id });
  return read.select({ n: count() }).from(segments).where(isOf(of)).get()?.n ?? 0;
}

export function insertSegment(tx: Tx, row: Omit<SegmentRow, 'id'>): SegmentRow {
  return tx.insert(segments).values(row).returning().get();
}

export function updateSegment(tx: Tx, id: number, changes: Partial<Omit<SegmentRow, 'id'>>): SegmentRow {
  return tx.update(segments).set(changes).where(eq(segments.id, id)).returning().get();
}

export function deleteSegment(tx: Tx, id: number): void {
  tx.delete(segments).where(eq(segments.id, id)).run();
}
