/** The SQL of AI accounts and of their assignment to projects. */
import { and, count, desc, eq, inArray, or, type SQL, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import type { RecordRef } from '../../platform/host/ids.ts';
import type { Scope } from '../../platform/http/callers.ts';
import { type AiAccountRow, aiAccountProjects, aiAccounts } from './tables.ts';

export type NewAiAccount = typeof aiAccounts.$inferInsert;

export function insertAccount(tx: Tx, account: NewAiAccount): AiAccountRow {
  return tx.insert(aiAccounts).values(account).returning().get();
}

/** The changed row, or null when there is none any more. */
export function updateAccount(tx: Tx, id: number, changes: Partial<NewAiAccount>): AiAccountRow | null {
  return tx.update(aiAccounts).set(changes).where(eq(aiAccounts.id, id)).returning().get() ?? null;
}

export function deleteAccount(tx: Tx, id: number): void {
  tx.delete(aiAccounts).where(eq(aiAccounts.id, id)).run();
}

/** An account within the scope, or null. */
export function findAccount(read: Tx, ref: RecordRef, scope: Scope): AiAccountRow | null {
  const named = 'id' in ref ? eq(aiAccounts.id, ref.id) : eq(aiAccounts.public_id, ref.public_id);
  return (
    read
      .select()
      .from(aiAccounts)
      .where(and(named, serving(scope)))
      .get() ?? null
  );
}

function jsonIds(ids: readonly number[]): SQL {
  // One JSON parameter: a scope may hold more ids than a statement may have parameters.
  return sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`;
}

/** Accounts that serve one of these projects, by assignment or by their standing rule. */
function serving(scope: Scope): SQL | undefined {
  if (scope === null) return undefined;
  const assigned = sql`${aiAccounts.id} IN (SELECT ${aiAccountProjects.ai_account_id} FROM ${aiAccountProjects}
    WHERE ${aiAccountProjects.project_id} IN ${jsonIds(scope)})`;
  return or(eq(aiAccounts.all_projects, true), assigned);
}

/** Newest first. */
export function listAccounts(
  read: Tx,
  scope: Scope,
  page: { limit: number; offset: number },
): AiAccountRow[] {
  return read
    .select()
    .from(aiAccounts)
    .where(serving(scope))
    .orderBy(desc(aiAccounts.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

export function countAccounts(read: Tx, scope: Scope): number {
  return read.select({ n: count() }).from(aiAccounts).where(serving(scope)).get()?.n ?? 0;
}

/* --- Assignments ---------------------------------------------------------------------------------------------- */

/** Ids of the projects an account is assigned to, newest project first. */
export function listProjectIds(read: Tx, ai_account_id: number): number[] {
  return read
    .select({ id: aiAccountProjects.project_id })
    .from(aiAccountProjects)
    .where(eq(aiAccountProjects.ai_account_id, ai_account_id))
    .orderBy(desc(aiAccountProjects.project_id))
    .all()
    .map((row) => row.id);
}

/** Ids of the accounts that are assigned to a project. */
export function listAccountIds(read: Tx, project_id: number): number[] {
  return read
    .select({ id: aiAccountProjects.ai_account_id })
    .from(aiAccountProjects)
    .where(eq(aiAccountProjects.project_id, project_id))
    .all()
    .map((row) => row.id);
}

export function insertAssignment(tx: Tx, row: { ai_account_id: number; project_id: number }): void {
  tx.insert(aiAccountProjects).values(row).onConflictDoNothing().run();
}

/** Ends an account's assignments to these projects. */
export function deleteAssignmentsOfAccount(
  tx: Tx,
  ai_account_id: number,
  project_ids: readonly number[],
): void {
  tx.delete(aiAccountProjects)
    .where(
      and(
        eq(aiAccountProjects.ai_account_id, ai_account_id),
        inArray(aiAccountProjects.project_id, jsonIds(project_ids)),
      ),
    )
    .run();
}

export function deleteAssignmentsOfProject(tx: Tx, project_id: number): void {
  tx.delete(aiAccountProjects).where(eq(aiAccountProjects.project_id, project_id)).run();
}
