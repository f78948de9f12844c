/** SQL of suppressions. */
import { and, count, desc, eq, gte } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/row-counts.ts';
import type { Departed } from './schemas.ts';
import { type SuppressionKind, type SuppressionRow, suppressionImports, suppressions } from './tables.ts';

// Written out, where every row of an import and every mail of a sequence passes.
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

export function deleteSuppression(tx: Tx, id: string): void {
  tx.delete(suppressions).where(eq(suppressions.id, id)).run();
}

/* --- What imports gave as reasons --------------------------------------------------------------------------------- */

export type Imported = typeof suppressionImports.$inferSelect;

// Written out, as each row of an import passes that says that somebody left.
const importedById = rawSql<Imported, [string, string]>(
  'SELECT * FROM suppression_imports WHERE import_id = ? AND suppression_id = ?',
  suppressionImports,
);
const save = rawSql<never, [string, string, string, string]>(
  `INSERT INTO suppression_imports (import_id, suppression_id, kind, departures) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET kind = excluded.kind, departures = excluded.departures`,
);
const remove = rawSql<never, [string, string]>(
  'DELETE FROM suppression_imports WHERE import_id = ? AND suppression_id = ?',
);
const kindsOf = rawSql<{ kind: SuppressionKind }, [string]>(
  'SELECT kind FROM suppression_imports WHERE suppression_id = ?',
);

export function findImported(read: Tx, import_id: string, suppression_id: string): Imported | null {
  return importedById.get(read, import_id, suppression_id);
}

/** In place of what the same import said of it before. */
export function saveImported(tx: Tx, { import_id, suppression_id, kind, departures }: Imported): void {
  save.run(tx, import_id, suppression_id, kind, JSON.stringify(departures));
}

export function deleteImported(tx: Tx, import_id: string, suppression_id: string): void {
  remove.run(tx, import_id, suppression_id);
}

/** Lets another import that suppressed the address, if one did, take back what one that is taken back leaves standing. */
export function handOn(tx: Tx, suppression_id: string, standing: readonly Departed[]): void {
  if (standing.length === 0) return;
  const of = eq(suppressionImports.suppression_id, suppression_id);
  const other = tx.select().from(suppressionImports).where(of).limit(1).get();
  if (!other) return;
  saveImported(tx, { ...other, departures: [...other.departures, ...standing] });
}

export function listImportedKinds(read: Tx, suppression_id: string): SuppressionKind[] {
  return kindsOf.all(read, suppression_id).map(({ kind }) => kind);
}

/** Up to `limit` of those that an import gave. */
export function listImported(read: Tx, import_id: string, limit: number): Imported[] {
  const of = eq(suppressionImports.import_id, import_id);
  return read.select().from(suppressionImports).where(of).limit(limit).all();
}

export function countImported(read: Tx, import_id: string): number {
  const of = eq(suppressionImports.import_id, import_id);
  return read.select({ n: count() }).from(suppressionImports).where(of).get()?.n ?? 0;
}
