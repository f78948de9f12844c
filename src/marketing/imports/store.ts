/** SQL of contact imports, the rows they rejected and those that wait for the DNS. */
import { and, count, eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { recordStore } from '../../platform/database/record-store.ts';
import { contactImportRejections, contactImports, contactImportWaiting, type ImportRow } from './tables.ts';

export const rows = recordStore<ImportRow>(contactImports);

/** Newest first. */
export const listImports = rawAll<ImportRow, [list_id: number, limit: number, offset: number]>(
  'SELECT * FROM contact_imports WHERE list_id = +? ORDER BY id DESC LIMIT +? OFFSET +?',
  contactImports,
);

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
export const listRejections = rawAll<Rejected, [import_id: string, after_row: number, limit: number]>(
  `SELECT * FROM contact_import_rejections WHERE import_id = +? AND row_number > +?
   ORDER BY row_number LIMIT +?`,
);

/** Deletes up to `limit` rejected rows of imports made before a moment; returns how many there were. */
export const deleteOldRejections = rawRun<[before_id: string, limit: number]>(
  `DELETE FROM contact_import_rejections WHERE (import_id, row_number) IN
   (SELECT import_id, row_number FROM contact_import_rejections WHERE import_id < ? LIMIT ?)`,
);

/* --- Rows that wait for the DNS ----------------------------------------------------------------------------------- */

export type Waiting = typeof contactImportWaiting.$inferSelect;

export function insertWaiting(tx: Tx, rows: readonly Waiting[]): void {
  if (rows.length > 0)
    tx.insert(contactImportWaiting)
      .values([...rows])
      .run();
}

export const listWaiting = rawAll<Waiting, [import_id: string, after_row: number, limit: number]>(
  'SELECT * FROM contact_import_waiting WHERE import_id = +? AND row_number > +? ORDER BY row_number LIMIT +?',
  contactImportWaiting,
);

const waitingCount = rawGet<{ n: number }, [string]>(
  'SELECT count(*) AS n FROM contact_import_waiting WHERE import_id = ?',
);

export function countWaiting(read: Tx, import_id: string): number {
  return waitingCount(read, import_id)?.n ?? 0;
}

const deleteRows = rawRun<[import_id: string, row_numbers: string]>(
  `DELETE FROM contact_import_waiting WHERE import_id = ?
   AND row_number IN (SELECT value FROM json_each(?))`,
);

export function deleteWaiting(tx: Tx, import_id: string, row_numbers: readonly number[]): void {
  deleteRows(tx, import_id, JSON.stringify(row_numbers));
}

/** Deletes up to `limit` rows of an import that wait; returns how many there were. */
export const deleteSomeWaiting = rawRun<[import_id: string, limit: number]>(
  `DELETE FROM contact_import_waiting WHERE import_id = ?1 AND row_number IN
   (SELECT row_number FROM contact_import_waiting WHERE import_id = ?1 LIMIT ?2)`,
);

const cancelled = rawAll<{ id: string }>(
  `SELECT id FROM contact_imports
   WHERE id IN (SELECT DISTINCT import_id FROM contact_import_waiting) AND status = 'cancelled'`,
);

/** Cancelled imports of which rows still wait. Few ever wait: a look at each import that has some. */
export function listCancelledThatWait(read: Tx): string[] {
  return cancelled(read).map(({ id }) => id);
}

/* --- One address -------------------------------------------------------------------------------------------------- */

const idsOf = rawAll<{ id: string }, [number]>('SELECT id FROM contact_imports WHERE project_id = ?');

export function listImportIds(read: Tx, project_id: number): string[] {
  return idsOf(read, project_id).map(({ id }) => id);
}

/** Deletes a rejected row: the counters tell that there was one. */
export const deleteRejection = rawRun<[import_id: string, row_number: number]>(
  'DELETE FROM contact_import_rejections WHERE import_id = ? AND row_number = ?',
);

/** Empties a row that waits. It stays, and is counted as one without an address once it is taken up. */
export function emptyWaiting(tx: Tx, row: Pick<Waiting, 'import_id' | 'row_number'>): void {
  const { import_id, row_number } = contactImportWaiting;
  tx.update(contactImportWaiting)
    .set({ fields: { email: '', first_name: null, last_name: null } })
    .where(and(eq(import_id, row.import_id), eq(row_number, row.row_number)))
    .run();
}
