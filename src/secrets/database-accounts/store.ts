/** The SQL of database accounts, database projects, and the links of the latter to projects. */
import { and, count, desc, eq, type SQL, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import type { RecordRef } from '../../platform/host/ids.ts';
import type { Scope } from '../../platform/http/callers.ts';
import {
  type DatabaseAccountRow,
  type DatabaseProjectRow,
  databaseAccounts,
  databaseProjectLinks,
  databaseProjects,
} from './tables.ts';

/* --- Accounts ------------------------------------------------------------------------------------------------- */

export type NewDatabaseAccount = typeof databaseAccounts.$inferInsert;

export function insertAccount(tx: Tx, account: NewDatabaseAccount): DatabaseAccountRow {
  return tx.insert(databaseAccounts).values(account).returning().get();
}

/** The changed row, or null when there is none any more. */
export function updateAccount(
  tx: Tx,
  id: number,
  changes: Partial<NewDatabaseAccount>,
): DatabaseAccountRow | null {
  return (
    tx.update(databaseAccounts).set(changes).where(eq(databaseAccounts.id, id)).returning().get() ?? null
  );
}

export function deleteAccount(tx: Tx, id: number): void {
  tx.delete(databaseAccounts).where(eq(databaseAccounts.id, id)).run();
}

export function findAccount(read: Tx, ref: RecordRef): DatabaseAccountRow | null {
  const condition =
    'id' in ref ? eq(databaseAccounts.id, ref.id) : eq(databaseAccounts.public_id, ref.public_id);
  return read.select().from(databaseAccounts).where(condition).get() ?? null;
}

/** Newest first. */
export function listAccounts(read: Tx, page: { limit: number; offset: number }): DatabaseAccountRow[] {
  const { limit, offset } = page;
  return read
    .select()
    .from(databaseAccounts)
    .orderBy(desc(databaseAccounts.id))
    .limit(limit)
    .offset(offset)
    .all();
}

export function countAccounts(read: Tx): number {
  return read.select({ n: count() }).from(databaseAccounts).get()?.n ?? 0;
}

/** How many database projects are of an account. */
export function countProjectsOfAccount(read: Tx, account_id: number): number {
  const of = eq(databaseProjects.account_id, account_id);
  return read.select({ n: count() }).from(databaseProjects).where(of).get()?.n ?? 0;
}

/* --- Projects ------------------------------------------------------------------------------------------------- */

export type NewDatabaseProject = typeof databaseProjects.$inferInsert;

export function insertProject(tx: Tx, project: NewDatabaseProject): DatabaseProjectRow {
  return tx.insert(databaseProjects).values(project).returning().get();
}

/** The changed row, or null when there is none any more. */
export function updateProject(
  tx: Tx,
  id: number,
  changes: Partial<NewDatabaseProject>,
): DatabaseProjectRow | null {
  return (
    tx.update(databaseProjects).set(changes).where(eq(databaseProjects.id, id)).returning().get() ?? null
  );
}

export function deleteProject(tx: Tx, id: number): void {
  tx.delete(databaseProjects).where(eq(databaseProjects.id, id)).run();
}

export function findProject(read: Tx, ref: RecordRef, scope: Scope): DatabaseProjectRow | null {
  const named = 'id' in ref ? eq(databaseProjects.id, ref.id) : eq(databaseProjects.public_id, ref.public_id);
  return (
    read
      .select()
      .from(databaseProjects)
      .where(and(named, linkedTo(scope)))
      .get() ?? null
  );
}

function linkedTo(scope: Scope): SQL | undefined {
  if (scope === null) return undefined;
  // One JSON parameter: a scope may hold more ids than a statement may have parameters.
  return sql`${databaseProjects.id} IN (SELECT ${databaseProjectLinks.database_project_id} FROM ${databaseProjectLinks}
    WHERE ${databaseProjectLinks.project_id} IN (SELECT value FROM json_each(${JSON.stringify(scope)})))`;
}

/** Newest first. */
export function listProjects(
  read: Tx,
  scope: Scope,
  page: { limit: number; offset: number },
): DatabaseProjectRow[] {
  return read
    .select()
    .from(databaseProjects)
    .where(linkedTo(scope))
    .orderBy(desc(databaseProjects.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

export function countProjects(read: Tx, scope: Scope): number {
  return read.select({ n: count() }).from(databaseProjects).where(linkedTo(scope)).get()?.n ?? 0;
}

/* --- Links ---------------------------------------------------------------------------------------------------- */

/** Ids of the projects that a database project belongs to. */
export function listLinkedIds(read: Tx, database_project_id: number): number[] {
  return read
    .select({ id: databaseProjectLinks.project_id })
    .from(databaseProjectLinks)
    .where(eq(databaseProjectLinks.database_project_id, database_project_id))
    .all()
    .map((row) => row.id);
}

// A literal: with a parameter SQLite plans the statement anew at each use, as the partial index depends on its value.
const shownAt = rawSql<{ database_project_id: number }, [number]>(
  'SELECT database_project_id FROM database_project_links WHERE project_id = ? AND is_shown = 1',
);

/** The database project that a project shows, or null; asked for every project that is read. */
export function findShownId(read: Tx, project_id: number): number | null {
  return shownAt.get(read, project_id)?.database_project_id ?? null;
}

/** Gives a database project to a project, and shows it there if nothing else is shown. */
export function insertLink(tx: Tx, link: { database_project_id: number; project_id: number }): void {
  const is_shown = findShownId(tx, link.project_id) === null;
  tx.insert(databaseProjectLinks)
    .values({ ...link, is_shown })
    .onConflictDoNothing()
    .run();
}

/** Ends the link that a project shows, and shows another one instead unless it is null. */
export function replaceShownLink(tx: Tx, project_id: number, database_project_id: number | null): void {
  const { is_shown } = databaseProjectLinks;
  tx.delete(databaseProjectLinks)
    .where(and(eq(databaseProjectLinks.project_id, project_id), eq(is_shown, true)))
    .run();
  if (database_project_id === null) return;
  tx.insert(databaseProjectLinks)
    .values({ database_project_id, project_id, is_shown: true })
    .onConflictDoUpdate({
      target: [databaseProjectLinks.database_project_id, databaseProjectLinks.project_id],
      set: { is_shown: true },
    })
    .run();
}

export function countLinksOfProject(read: Tx, project_id: number): number {
  const of = eq(databaseProjectLinks.project_id, project_id);
  return read.select({ n: count() }).from(databaseProjectLinks).where(of).get()?.n ?? 0;
}
