/** Totals of lists, read from the counters that triggers keep, so that no page counts its whole table. */
import { and, eq, sum } from 'drizzle-orm';
import type { Tx } from './database.ts';
import { rowCounts } from './tables.ts';

/** How many rows a list has, of one facet where one is given. */
export function readRowCount(read: Tx, of: { list: string; project_id: number; facet?: string }): number {
  const row = read
    .select({ n: sum(rowCounts.n).mapWith(Number) })
    .from(rowCounts)
    .where(
      and(
        eq(rowCounts.list, of.list),
        eq(rowCounts.project_id, of.project_id),
        of.facet === undefined ? undefined : eq(rowCounts.facet, of.facet),
      ),
    )
    .get();
  return row?.n ?? 0;
}
