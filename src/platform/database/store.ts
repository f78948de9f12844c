/** What the database says of itself: keys that belong to it as a whole, and totals of lists, which triggers keep, so that no page counts its table. */
import { and, eq, type SQL, sql, sum } from 'drizzle-orm';
import { statement, type Tx } from './database.ts';
import { rawValue } from './raw-sql.ts';
import { meta, rowCounts } from './tables.ts';

// Written out: each mail and each sealed secret asks for one.
export const readMeta = rawValue<string, [name: string]>('SELECT value FROM meta WHERE name = ?');

export function writeMeta(tx: Tx, name: string, value: string): void {
  tx.insert(meta).values({ name, value }).onConflictDoUpdate({ target: meta.name, set: { value } }).run();
}

const sumOf = (tx: Tx, of_facet?: SQL) =>
  tx
    .select({ n: sum(rowCounts.n).mapWith(Number) })
    .from(rowCounts)
    .where(
      and(
        eq(rowCounts.list, sql.placeholder('list')),
        eq(rowCounts.project_id, sql.placeholder('project_id')),
        of_facet,
      ),
    )
    .prepare();
const wholeList = statement((tx) => sumOf(tx));
const oneFacet = statement((tx) => sumOf(tx, eq(rowCounts.facet, sql.placeholder('facet'))));

/** How many rows a list or one facet has. Prepared, as a page of projects asks once for each. */
export function readRowCount(read: Tx, of: { list: string; project_id: number; facet?: string }): number {
  const { list, project_id, facet } = of;
  const row =
    facet === undefined
      ? wholeList(read).get({ list, project_id })
      : oneFacet(read).get({ list, project_id, facet });
  return row?.n ?? 0;
}
