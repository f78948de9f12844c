/** The SQL of the vault. Values go in and out sealed. */
import { and, count, eq, isNotNull, isNull, max, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { type VaultValueRow, vaultReveals, vaultServices, vaultValues } from './tables.ts';

const ofProject = statement((tx) =>
  tx
    .select()
    .from(vaultValues)
    .where(eq(vaultValues.project_id, sql.placeholder('project_id')))
    .prepare(),
);
const ofService = statement((tx) =>
  tx
    .select()
    .from(vaultValues)
    .where(
      and(
        eq(vaultValues.project_id, sql.placeholder('project_id')),
        eq(vaultValues.service, sql.placeholder('service')),
      ),
    )
    .prepare(),
);

/** What a project has stored, of one service where one is given. */
export function listValues(read: Tx, project_id: number, service?: string): VaultValueRow[] {
  return service === undefined
    ? ofProject(read).all({ project_id })
    : ofService(read).all({ project_id, service });
}

export function findValue(
  read: Tx,
  at: { project_id: number; service: string; field: string },
): VaultValueRow | null {
  return listValues(read, at.project_id, at.service).find((row) => row.field === at.field) ?? null;
}

/** The names that are stored of a service, each with whether it is plain. */
export function listNames(read: Tx, project_id: number, service: string): Map<string, boolean> {
  const rows = read
    .select({ field: vaultValues.field, is_plain: vaultValues.is_plain })
    .from(vaultValues)
    .where(and(eq(vaultValues.project_id, project_id), eq(vaultValues.service, service)))
    .all();
  return new Map(rows.map(({ field, is_plain }) => [field, is_plain]));
}

/** Every project's value of one field. */
export function listValuesOf(read: Tx, service: string, field: string): VaultValueRow[] {
  return read
    .select()
    .from(vaultValues)
    .where(and(eq(vaultValues.service, service), eq(vaultValues.field, field)))
    .all();
}

export type NewValue = typeof vaultValues.$inferInsert;

/** Stores a field, over the value it has. */
export function putValue(tx: Tx, value: NewValue): void {
  const { sealed, updated_at, is_plain, filename = null } = value;
  tx.insert(vaultValues)
    .values(value)
    .onConflictDoUpdate({
      target: [vaultValues.project_id, vaultValues.service, vaultValues.field],
      set: { sealed, filename, is_plain, updated_at },
    })
    .run();
}

/** Whether there was such a value. */
export function deleteValue(tx: Tx, at: { project_id: number; service: string; field: string }): boolean {
  const { project_id, service, field } = at;
  return (
    tx
      .delete(vaultValues)
      .where(
        and(
          eq(vaultValues.project_id, project_id),
          eq(vaultValues.service, service),
          eq(vaultValues.field, field),
        ),
      )
      .returning({ id: vaultValues.id })
      .all().length > 0
  );
}

export function deleteService(tx: Tx, project_id: number, service: string): void {
  const of = <T extends typeof vaultValues | typeof vaultServices>(table: T) =>
    and(eq(table.project_id, project_id), eq(table.service, service));
  tx.delete(vaultValues).where(of(vaultValues)).run();
  tx.delete(vaultServices).where(of(vaultServices)).run();
}

export function touchService(tx: Tx, row: { project_id: number; service: string; updated_at: number }): void {
  tx.insert(vaultServices)
    .values(row)
    .onConflictDoUpdate({
      target: [vaultServices.project_id, vaultServices.service],
      set: { updated_at: row.updated_at },
    })
    .run();
}

/** When each service of a project last changed. */
export function listChanges(read: Tx, project_id: number): Map<string, number> {
  const rows = read.select().from(vaultServices).where(eq(vaultServices.project_id, project_id)).all();
  return new Map(rows.map((row) => [row.service, row.updated_at]));
}

/** How many values of each service a project has, and when they last changed. */
export function summarizeValues(
  read: Tx,
  project_id: number,
): { service: string; values: number; files: number; updated_at: number | null }[] {
  return read
    .select({
      service: vaultValues.service,
      values: sql<number>`count(*) FILTER (WHERE ${vaultValues.filename} IS NULL)`,
      files: sql<number>`count(${vaultValues.filename})`,
      updated_at: max(vaultValues.updated_at),
    })
    .from(vaultValues)
    .where(eq(vaultValues.project_id, project_id))
    .groupBy(vaultValues.service)
    .all();
}

export function insertReveal(tx: Tx, reveal: typeof vaultReveals.$inferInsert): void {
  tx.insert(vaultReveals).values(reveal).run();
}

/** What goes when a project is deleted. */
export function countForCascade(
  tx: Tx,
  project_id: number,
): { vault_credentials: number; vault_files: number; vault_reveals: number } {
  const stored = (kind: typeof isNull | typeof isNotNull): number =>
    tx
      .select({ n: count() })
      .from(vaultValues)
      .where(and(eq(vaultValues.project_id, project_id), kind(vaultValues.filename)))
      .get()?.n ?? 0;
  const reveals = tx
    .select({ n: count() })
    .from(vaultReveals)
    .where(eq(vaultReveals.project_id, project_id))
    .get();
  return {
    vault_credentials: stored(isNull),
    vault_files: stored(isNotNull),
    vault_reveals: reveals?.n ?? 0,
  };
}
