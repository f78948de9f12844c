/** The SQL of records at providers: accounts, databases, and which projects they serve. */
import { and, count, desc, eq, inArray, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Tx } from '../../platform/database/database.ts';
import { rawCount, rawRun, rawValue, rawValues } from '../../platform/database/raw-sql.ts';
import type { RecordRef } from '../../platform/host/ids.ts';
import type { Scope } from '../../platform/http/callers.ts';
import {
  aiAccountProjects,
  aiAccounts,
  databaseAccounts,
  databaseProjectLinks,
  databaseProjects,
} from './tables.ts';

/* --- Records -------------------------------------------------------------------------------------------------- */

/** What is done with the rows of a kind of record; a scope leaves those that serve one of its projects. */
export interface AccountStore<Row, New> {
  insert(tx: Tx, row: New): Row;
  /** The changed row, or null when there is none any more. */
  update(tx: Tx, id: number, changes: Partial<New>): Row | null;
  remove(tx: Tx, id: number): void;
  find(read: Tx, ref: RecordRef, scope: Scope): Row | null;
  /** Newest first. */
  list(read: Tx, scope: Scope, page: { limit: number; offset: number }): Row[];
  count(read: Tx, scope: Scope): number;
}

type AccountTable = SQLiteTable & { id: SQLiteColumn; public_id: SQLiteColumn };

function accountStore<T extends AccountTable>(
  table: T,
  serving: (project_ids: readonly number[]) => SQL | undefined,
): AccountStore<T['$inferSelect'], T['$inferInsert']> {
  const within = (scope: Scope): SQL | undefined => (scope === null ? undefined : serving(scope));
  // The type of what is selected from a table that is not known yet is more than TypeScript works out.
  const select = (read: Tx) => read.select().from(table as AccountTable);
  return {
    insert: (tx, row) => tx.insert(table).values(row).returning().get(),
    update: (tx, id, changes) =>
      tx.update(table).set(changes).where(eq(table.id, id)).returning().get() ?? null,
    remove: (tx, id) => void tx.delete(table).where(eq(table.id, id)).run(),
    find(read, ref, scope) {
      const named = 'id' in ref ? eq(table.id, ref.id) : eq(table.public_id, ref.public_id);
      return (
        select(read)
          .where(and(named, within(scope)))
          .get() ?? null
      );
    },
    list: (read, scope, { limit, offset }) =>
      select(read).where(within(scope)).orderBy(desc(table.id)).limit(limit).offset(offset).all(),
    count: (read, scope) =>
      read
        .select({ n: count() })
        .from(table as AccountTable)
        .where(within(scope))
        .get()?.n ?? 0,
  };
}

/** One JSON parameter: there may be more ids than a statement may have parameters. */
function jsonIds(ids: readonly number[]): SQL {
  return sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`;
}

/** Accounts that serve a project by assignment or by their standing rule. */
export const aiAccountStore = accountStore(aiAccounts, (project_ids) =>
  or(
    eq(aiAccounts.all_projects, true),
    sql`${aiAccounts.id} IN (SELECT ${aiAccountProjects.ai_account_id} FROM ${aiAccountProjects}
      WHERE ${aiAccountProjects.project_id} IN ${jsonIds(project_ids)})`,
  ),
);

/** They belong to no project. */
export const databaseAccountStore = accountStore(databaseAccounts, () => sql`0`);

export const databaseProjectStore = accountStore(
  databaseProjects,
  (project_ids) =>
    sql`${databaseProjects.id} IN (SELECT ${databaseProjectLinks.database_project_id} FROM ${databaseProjectLinks}
      WHERE ${databaseProjectLinks.project_id} IN ${jsonIds(project_ids)})`,
);

/** How many database projects are of an account. */
export const countProjectsOfAccount = rawCount<[account_id: number]>(
  'SELECT count(*) FROM database_projects WHERE account_id = ?',
);

/* --- Assignments of AI accounts ------------------------------------------------------------------------------- */

/** Ids of the projects an account is assigned to, newest project first. */
export const listProjectIds = rawValues<number, [ai_account_id: number]>(
  'SELECT project_id FROM ai_account_projects WHERE ai_account_id = +? ORDER BY project_id DESC',
);

/** Ids of the accounts that are assigned to a project. */
export const listAccountIds = rawValues<number, [project_id: number]>(
  'SELECT ai_account_id FROM ai_account_projects WHERE project_id = ?',
);

export const insertAssignment = rawRun<[ai_account_id: number, project_id: number]>(
  'INSERT INTO ai_account_projects (ai_account_id, project_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
);

/** Ends the assignments of these accounts to these projects. */
export function deleteAssignments(
  tx: Tx,
  account_ids: readonly number[],
  project_ids: readonly number[],
): void {
  const of_accounts = inArray(aiAccountProjects.ai_account_id, jsonIds(account_ids));
  const to_projects = inArray(aiAccountProjects.project_id, jsonIds(project_ids));
  tx.delete(aiAccountProjects).where(and(of_accounts, to_projects)).run();
}

/* --- Links of database projects ------------------------------------------------------------------------------- */

/** Ids of the projects that a database project belongs to. */
export const listLinkedIds = rawValues<number, [database_project_id: number]>(
  'SELECT project_id FROM database_project_links WHERE database_project_id = ?',
);

/** The database project that a project shows, or null; asked for every project that is read. */
export const findShownId = rawValue<number, [project_id: number]>(
  'SELECT database_project_id FROM database_project_links WHERE project_id = ? AND is_shown = 1',
);

/** Gives a database project to a project, and shows it there if nothing else is shown. */
export const insertLink = rawRun<[database_project_id: number, project_id: number]>(
  `INSERT INTO database_project_links (database_project_id, project_id, is_shown)
   SELECT ?1, ?2, NOT EXISTS (SELECT 1 FROM database_project_links WHERE project_id = ?2 AND is_shown = 1)
   WHERE true ON CONFLICT DO NOTHING`,
);

const dropShown = rawRun<[number]>(
  'DELETE FROM database_project_links WHERE project_id = ? AND is_shown = 1',
);
const putShown = rawRun<[number, number]>(
  `INSERT INTO database_project_links (database_project_id, project_id, is_shown) VALUES (?, ?, 1)
   ON CONFLICT DO UPDATE SET is_shown = 1`,
);

/** Ends the link that a project shows, and shows another one instead unless it is null. */
export function replaceShownLink(tx: Tx, project_id: number, database_project_id: number | null): void {
  dropShown(tx, project_id);
  if (database_project_id !== null) putShown(tx, database_project_id, project_id);
}

export const countLinksOfProject = rawCount<[project_id: number]>(
  'SELECT count(*) FROM database_project_links WHERE project_id = ?',
);
