/** SQL of suppressions. */
import { and, desc, eq, gte } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/store.ts';
import type { Departed } from './schemas.ts';
import { type SuppressionKind, type SuppressionRow, suppressionImports, suppressions } from './tables.ts';

export const findSuppression = rawGet<SuppressionRow, [project_id: number, hash: string]>(
  'SELECT * FROM suppressions WHERE project_id = ? AND hash = ?',
);

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

export function updateSuppression(
  tx: Tx,
  id: string,
  changes: Partial<Pick<SuppressionRow, 'kind' | 'mailbox' | 'also_kind' | 'own_kind' | 'own_also_kind'>>,
): void {
  tx.update(suppressions).set(changes).where(eq(suppressions.id, id)).run();
}

/** Of one kind, since a moment, and of one mailbox's mail where one is given; oldest first. */
export function listSuppressionsSince(
  read: Tx,
  project_id: number,
  of: { kind: SuppressionKind; since_ms: number; mailbox: string | null },
): SuppressionRow[] {
  const { kind, since_ms, mailbox } = of;
  const is_of_mailbox = mailbox === null ? undefined : eq(suppressions.mailbox, mailbox.toLowerCase());
  return read
    .select()
    .from(suppressions)
    .where(
      and(
        eq(suppressions.project_id, project_id),
        eq(suppressions.kind, kind),
        gte(suppressions.created_at, since_ms),
        is_of_mailbox,
      ),
    )
    .orderBy(suppressions.id)
    .all();
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

export const deleteSuppression = rawRun<[id: string]>('DELETE FROM suppressions WHERE id = ?');

/* --- What imports gave as reasons --------------------------------------------------------------------------------- */

export type Imported = typeof suppressionImports.$inferSelect;

export const findImported = rawGet<Imported, [import_id: string, suppression_id: string]>(
  'SELECT * FROM suppression_imports WHERE import_id = ? AND suppression_id = ?',
  suppressionImports,
);

const save = rawRun<[string, string, string, string]>(
  `INSERT INTO suppression_imports (import_id, suppression_id, kind, departures) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET kind = excluded.kind, departures = excluded.departures`,
);
/** In place of what the same import said of it before. */
export function saveImported(tx: Tx, { import_id, suppression_id, kind, departures }: Imported): void {
  save(tx, import_id, suppression_id, kind, JSON.stringify(departures));
}

export const deleteImported = rawRun<[import_id: string, suppression_id: string]>(
  'DELETE FROM suppression_imports WHERE import_id = ? AND suppression_id = ?',
);

const anyImported = rawGet<Imported, [string]>(
  'SELECT * FROM suppression_imports WHERE suppression_id = ? LIMIT 1',
  suppressionImports,
);

/** Lets another import that suppressed the address, if one did, take back what one that is taken back leaves standing. */
export function handOn(tx: Tx, suppression_id: string, standing: readonly Departed[]): void {
  const other = standing.length === 0 ? null : anyImported(tx, suppression_id);
  if (other) saveImported(tx, { ...other, departures: [...other.departures, ...standing] });
}

const kindsOf = rawAll<{ kind: SuppressionKind }, [string]>(
  'SELECT kind FROM suppression_imports WHERE suppression_id = ?',
);

export function listImportedKinds(read: Tx, suppression_id: string): SuppressionKind[] {
  return kindsOf(read, suppression_id).map(({ kind }) => kind);
}

/** Up to `limit` of those that an import gave. */
export const listImported = rawAll<Imported, [import_id: string, limit: number]>(
  'SELECT * FROM suppression_imports WHERE import_id = +? LIMIT +?',
  suppressionImports,
);

const importedCount = rawGet<{ n: number }, [string]>(
  'SELECT count(*) AS n FROM suppression_imports WHERE import_id = ?',
);

export function countImported(read: Tx, import_id: string): number {
  return importedCount(read, import_id)?.n ?? 0;
}
