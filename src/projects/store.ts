/** The SQL of projects and of the scopes of access tokens. */
import { and, asc, count, desc, eq, type SQL, sql } from 'drizzle-orm';
import { statement, type Tx } from '../platform/database/database.ts';
import { rawSql } from '../platform/database/raw-sql.ts';
import { readRowCount } from '../platform/database/row-counts.ts';
import { accessTokenProjects, type ProjectRow, projects } from './tables.ts';

// Every request of the management plane that is about a project finds it so.
const byId = rawSql<ProjectRow, [number]>('SELECT * FROM projects WHERE id = ?', projects);
const byPublicId = rawSql<ProjectRow, [string]>('SELECT * FROM projects WHERE public_id = ?', projects);
const bySlug = rawSql<ProjectRow, [string]>('SELECT * FROM projects WHERE slug = ?', projects);

export function findProjectById(read: Tx, id: number): ProjectRow | null {
  return byId.get(read, id);
}

export function findProjectByPublicId(read: Tx, public_id: string): ProjectRow | null {
  return byPublicId.get(read, public_id);
}

export function findProjectBySlug(read: Tx, slug: string): ProjectRow | null {
  return bySlug.get(read, slug);
}

export type ProjectState = Pick<ProjectRow, 'id' | 'public_id' | 'status'>;

const stateById = rawSql<ProjectState, [number]>('SELECT id, public_id, status FROM projects WHERE id = ?');

/** The little of a project that every request with an API key asks for. */
export function findProjectState(read: Tx, id: number): ProjectState | null {
  return stateById.get(read, id);
}

export interface ProjectFilter {
  /** Substring of name or slug, ignoring ASCII case. */
  q?: string;
  status?: 'active' | 'inactive';
  /** Only these; all when absent. */
  project_ids?: readonly number[];
}

function conditionOf(filter: ProjectFilter): SQL | undefined {
  const { q, status, project_ids } = filter;
  return and(
    status === undefined ? undefined : eq(projects.status, status),
    // One JSON parameter: a scope may hold more ids than a statement may have parameters.
    project_ids === undefined
      ? undefined
      : sql`${projects.id} IN (SELECT value FROM json_each(${JSON.stringify(project_ids)}))`,
    // Unlike LIKE, instr knows no wildcards and has no limit of its own; lower() changes ASCII letters only.
    q
      ? sql`(instr(lower(${projects.name}), lower(${q})) OR instr(${projects.slug}, lower(${q})))`
      : undefined,
  );
}

/** Projects that match, newest first; all of them for a limit of -1. */
export function listProjects(
  read: Tx,
  filter: ProjectFilter,
  page: { limit: number; offset: number },
): ProjectRow[] {
  return read
    .select()
    .from(projects)
    .where(conditionOf(filter))
    .orderBy(desc(projects.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

export function countProjects(read: Tx, filter: ProjectFilter): number {
  if (!filter.q && filter.project_ids === undefined) {
    const facet = filter.status === undefined ? {} : { facet: filter.status };
    return readRowCount(read, { list: 'projects', project_id: 0, ...facet });
  }
  return read.select({ n: count() }).from(projects).where(conditionOf(filter)).get()?.n ?? 0;
}

export type NewProject = typeof projects.$inferInsert;

export function insertProject(tx: Tx, project: NewProject): ProjectRow {
  return tx.insert(projects).values(project).returning().get();
}

/** The changed row, or null when there is none any more. */
export function updateProject(tx: Tx, id: number, changes: Partial<NewProject>): ProjectRow | null {
  return tx.update(projects).set(changes).where(eq(projects.id, id)).returning().get() ?? null;
}

/** Deletes a project and, by foreign keys, everything that belongs to it. */
export function deleteProject(tx: Tx, id: number): void {
  tx.delete(projects).where(eq(projects.id, id)).run();
}

const scopeOfToken = statement((tx) =>
  tx
    .select({ project_id: accessTokenProjects.project_id })
    .from(accessTokenProjects)
    .where(eq(accessTokenProjects.token_id, sql.placeholder('token_id')))
    .prepare(),
);

/** Numeric ids of the projects that a token is scoped to. */
export function listScopeIds(read: Tx, token_id: number): number[] {
  return scopeOfToken(read)
    .all({ token_id })
    .map((row) => row.project_id);
}

export function insertScope(tx: Tx, token_id: number, project_id: number): void {
  tx.insert(accessTokenProjects).values({ token_id, project_id }).onConflictDoNothing().run();
}

/** The projects that a token is scoped to, by name. */
export function listScope(read: Tx, token_id: number): ProjectRow[] {
  const ids = sql`SELECT ${accessTokenProjects.project_id} FROM ${accessTokenProjects} WHERE ${accessTokenProjects.token_id} = ${token_id}`;
  return read
    .select()
    .from(projects)
    .where(sql`${projects.id} IN (${ids})`)
    .orderBy(asc(projects.name))
    .all();
}
