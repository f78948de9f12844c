/** SQL of contact imports, the rows they rejected and those that wait for the DNS. */
import { and, count, desc, eq, gt, inArray, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { contactImportRejections, contactImports, contactImportWaiting, type ImportRow } from './tables.ts';

const byId = statement((tx) =>
  tx
    .select()
    .from(contactImports)
    .where(eq(contactImports.id, sql.placeholder('id')))
    .prepare(),
);

export function findImport(read: Tx, id: string): ImportRow | undefined {
  return byId(read).get({ id });
}

/** Newest first. */
export function listImports(read: Tx, list_id: number, page: { limit: number; offset: number }): ImportRow[] {
  return read
    .select()
    .from(contactImports)
    .where(eq(contactImports.list_id, list_id))
    .orderBy(desc(contactImports.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

export function countImports(read: Tx, of: { list_id: number } | { project_id: number }): number {
  const { list_id, project_id } = contactImports;
  const where = 'list_id' in of ? eq(list_id, of.list_id) : eq(project_id, of.project_id);
  return read.select({ n: count() }).from(contactImports).where(where).get()?.n ?? 0;
}

export function insertImport(tx: Tx, row: ImportRow): void {
  tx.insert(contactImports).values(row).run();
}

export function updateImport(tx: Tx, id: string, changes: Partial<ImportRow>): ImportRow {
  return tx.update(contactImports).set(changes).where(eq(contactImports.id, id)).returning().get();
}

/* --- Rejected rows ------------------------------------------------------------------------------------------------ */

export type Rejected = typeof contactImportRejections.$inferSelect;

export function insertRejections(tx: Tx, rows: readonly Rejected[]): void {
  if (rows.length > 0)
    tx.insert(contactImportRejections)
      .values([...rows])
      .run();
}

/** Up to `limit` rejected rows behind a row number, in the order of the file. */
export function listRejections(
  read: Tx,
  import_id: string,
  piece: { after_row: number; limit: number },
): Rejected[] {
  return read
    .select()
    .from(contactImportRejections)
    .where(
      and(
        eq(contactImportRejections.import_id, import_id),
        gt(contactImportRejections.row_number, piece.after_row),
      ),
    )
    .orderBy(contactImportRejections.row_number)
    .limit(piece.limit)
    .all();
}

/** Deletes up to `limit` rejected rows of imports made before a moment; returns how many there were. */
export function deleteOldRejections(tx: Tx, before_id: string, limit: number): number {
  return tx
    .delete(contactImportRejections)
    .where(
      sql`(import_id, row_number) IN (SELECT import_id, row_number FROM contact_import_rejections WHERE import_id < ${before_id} LIMIT ${limit})`,
    )
    .returning({ row_number: contactImportRejections.row_number })
    .all().length;
}

/* --- Rows that wait for the DNS ----------------------------------------------------------------------------------- */

export type Waiting = typeof contactImportWaiting.$inferSelect;

export function insertWaiting(tx: Tx, rows: readonly Waiting[]): void {
  if (rows.length > 0)
    tx.insert(contactImportWaiting)
      .values([...rows])
      .run();
}

export function listWaiting(
  read: Tx,
  import_id: string,
  piece: { after_row: number; limit: number },
): Waiting[] {
  return read
    .select()
    .from(contactImportWaiting)
    .where(
      and(
        eq(contactImportWaiting.import_id, import_id),
        gt(contactImportWaiting.row_number, piece.after_row),
      ),
    )
    .orderBy(contactImportWaiting.row_number)
    .limit(piece.limit)
    .all();
}

export function countWaiting(read: Tx, import_id: string): number {
  return (
    read
      .select({ n: count() })
      .from(contactImportWaiting)
      .where(eq(contactImportWaiting.import_id, import_id))
      .get()?.n ?? 0
  );
}

export function deleteWaiting(tx: Tx, import_id: string, row_numbers: readonly number[]): void {
  tx.delete(contactImportWaiting)
    .where(
      and(
        eq(contactImportWaiting.import_id, import_id),
        inArray(contactImportWaiting.row_number, [...row_numbers]),
      ),
    )
    .run();
}

/** Deletes up to `limit` rows of an import that wait; returns how many there were. */
export function deleteSomeWaiting(tx: Tx, import_id: string, limit: number): number {
  const { row_number } = contactImportWaiting;
  const rows = tx
    .select({ row_number })
    .from(contactImportWaiting)
    .where(eq(contactImportWaiting.import_id, import_id))
    .limit(limit)
    .all();
  deleteWaiting(
    tx,
    import_id,
    rows.map((row) => row.row_number),
  );
  return rows.length;
}

/** Cancelled imports of which rows still wait. Few ever wait: a look at each import that has some. */
export function listCancelledThatWait(read: Tx): string[] {
  const waiting = read.selectDistinct({ id: contactImportWaiting.import_id }).from(contactImportWaiting);
  const { id, status } = contactImports;
  return read
    .select({ id })
    .from(contactImports)
    .where(and(inArray(id, waiting), eq(status, 'cancelled')))
    .all()
    .map((row) => row.id);
}

/* --- One address -------------------------------------------------------------------------------------------------- */

export function listImportIds(read: Tx, project_id: number): string[] {
  const { id } = contactImports;
  const of_project = eq(contactImports.project_id, project_id);
  return read
    .select({ id })
    .from(contactImports)
    .where(of_project)
    .all()
    .map((row) => row.id);
}

/** Deletes a rejected row: the counters tell that there was one. */
export function deleteRejection(tx: Tx, row: Pick<Rejected, 'import_id' | 'row_number'>): void {
  const { import_id, row_number } = contactImportRejections;
  tx.delete(contactImportRejections)
    .where(and(eq(import_id, row.import_id), eq(row_number, row.row_number)))
    .run();
}

/** Empties a row that waits. It stays, and is counted as one without an address once it is taken up. */
export function emptyWaiting(tx: Tx, row: Pick<Waiting, 'import_id' | 'row_number'>): void {
  const { import_id, row_number } = row;
  tx.update(contactImportWaiting)
    .set({ fields: { email: '', first_name: null, last_name: null } })
    .where(
      and(eq(contactImportWaiting.import_id, import_id), eq(contactImportWaiting.row_number, row_number)),
    )
    .run();
}
