/** The SQL of projects and of the scopes of tokens and people. */

import type { Database as Sqlite } from 'bun:sqlite';
import { and, asc, between, count, desc, eq, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { conflict } from '../../errors.ts';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/row-counts.ts';
import { type ProjectRow, projects } from './tables.ts';

/** Nobody sees a project before all of it has arrived from another Satchel. */
const IS_HERE = sql`${projects.status} <> 'arriving'`;

// Every request of the management plane that is about a project finds it so.
const by = (column: SQLiteColumn) =>
  statement((tx) =>
    tx
      .select()
      .from(projects)
      .where(and(eq(column, sql.placeholder('ref')), IS_HERE))
      .prepare(),
  );
const byId = by(projects.id);
const byPublicId = by(projects.public_id);
const bySlug = by(projects.slug);

export function findProjectById(read: Tx, id: number): ProjectRow | null {
  return byId(read).get({ ref: id }) ?? null;
}

export function findProjectByPublicId(read: Tx, public_id: string): ProjectRow | null {
  return byPublicId(read).get({ ref: public_id }) ?? null;
}

export function findProjectBySlug(read: Tx, slug: string): ProjectRow | null {
  return bySlug(read).get({ ref: slug }) ?? null;
}

/** Throws AppError `conflict` SLUG_ALREADY_EXISTS where another project than `own_id` has it. */
export function refuseTakenSlug(tx: Tx, slug: string, own_id: number | null): void {
  const holder = findProjectBySlug(tx, slug);
  if (!holder || holder.id === own_id) return;
  throw conflict('Another project has this slug. Choose another one, or leave it out to get a free one.', {
    code: 'SLUG_ALREADY_EXISTS',
    errors: { slug: ['is already taken by another project'] },
  });
}

export type ProjectState = Pick<ProjectRow, 'id' | 'public_id' | 'status'>;

const stateById = rawSql<ProjectState, [number]>(
  "SELECT id, public_id, status FROM projects WHERE id = ? AND status <> 'arriving'",
);

/** Of those of these that are there, by slug: for a health check, which has no more than the database. */
export function listSlugs(sqlite: Sqlite, ids: readonly number[]): string[] {
  const found = sqlite.query<{ slug: string }, [string]>(
    "SELECT slug FROM projects WHERE id IN (SELECT value FROM json_each(?)) AND status <> 'arriving' ORDER BY slug",
  );
  return found.all(JSON.stringify(ids)).map(({ slug }) => slug);
}

/** What every request with an API key needs of its project. */
export function findProjectState(read: Tx, id: number): ProjectState | null {
  return stateById.get(read, id);
}

// Raw: each claim of jobs asks it of each project that has any waiting.
const active = rawSql<{ id: number }, [number]>("SELECT id FROM projects WHERE id = ? AND status = 'active'");

export function isActive(read: Tx, id: number): boolean {
  return active.get(read, id) !== null;
}

const inactive = rawSql<{ id: number }, []>("SELECT id FROM projects WHERE status = 'inactive'");

export function listInactiveIds(read: Tx): number[] {
  return inactive.all(read).map(({ id }) => id);
}

/** Which sending domains a project's mail goes by, by name. */
export type Sending = Pick<ProjectRow, 'sending_domain' | 'sending_domains'>;

// Asked for with every email and every attempt.
const sendingById = rawSql<Sending, [number]>(
  'SELECT sending_domain, sending_domains FROM projects WHERE id = ?',
  projects,
);

/** Null when the project is gone. */
export function findSending(read: Tx, id: number): Sending | null {
  return sendingById.get(read, id);
}

// Each mail's links, and each request by a host name that is not the public one.
const activeLinkDomain = rawSql<{ link_domain: string | null }, [number]>(
  "SELECT link_domain FROM projects WHERE id = ? AND link_domain_status = 'active'",
);
const atLinkDomain = rawSql<{ id: number }, [string]>('SELECT id FROM projects WHERE link_domain = ?');

export function findActiveLinkDomain(read: Tx, id: number): string | null {
  return activeLinkDomain.get(read, id)?.link_domain ?? null;
}

/** The id of the project that has this link domain, whatever its status. */
export function findProjectAtLinkDomain(read: Tx, name: string): number | null {
  return atLinkDomain.get(read, name)?.id ?? null;
}

export function listWithLinkDomain(read: Tx): ProjectRow[] {
  return read
    .select()
    .from(projects)
    .where(and(isNotNull(projects.link_domain), IS_HERE))
    .orderBy(asc(projects.link_domain))
    .all();
}

const naming = rawSql<{ slug: string }, [string]>(`
  SELECT slug FROM projects
  WHERE status <> 'arriving' AND ?1 IN (SELECT sending_domain UNION ALL SELECT value FROM json_each(sending_domains))
  ORDER BY slug`);

/** Slugs of the projects that name a sending domain. */
export function listNaming(read: Tx, domain: string): string[] {
  return naming.all(read, domain).map(({ slug }) => slug);
}

interface ProjectFilter {
  /** Substring of name or slug, ignoring ASCII case. */
  q?: string;
  status?: 'active' | 'inactive';
  /** Only these; all when absent. */
  project_ids?: readonly number[];
}

function conditionOf(filter: ProjectFilter): SQL | undefined {
  const { q, status, project_ids } = filter;
  return and(
    IS_HERE,
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

/** Those whose slug begins so, in its order. */
export function listProjectsFrom(read: Tx, beginning: string, limit: number): ProjectRow[] {
  return read
    .select()
    .from(projects)
    .where(and(between(projects.slug, beginning, `${beginning}\u{10FFFF}`), IS_HERE))
    .orderBy(projects.slug)
    .limit(limit)
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

/** Who is scoped to projects: a token or a person. */
export interface ScopeHolder {
  readonly kind: 'token' | 'person';
  readonly id: number;
}

// Raw, as the tables belong to tokens and people: their definitions are not for this noun to import.
function scopeSql(table: string, column: string) {
  return {
    ids: rawSql<{ project_id: number }, [number]>(`SELECT project_id FROM ${table} WHERE ${column} = ?`),
    // An id whose project was deleted meanwhile is left out.
    add: rawSql<never, [number, number]>(
      `INSERT INTO ${table} (${column}, project_id) SELECT ?, id FROM projects WHERE id = ? ON CONFLICT DO NOTHING`,
    ),
    clear: rawSql<never, [number]>(`DELETE FROM ${table} WHERE ${column} = ?`),
  };
}
const SCOPES = {
  token: scopeSql('access_token_projects', 'token_id'),
  person: scopeSql('person_projects', 'person_id'),
};

/** Numeric ids of the projects that somebody is scoped to. */
export function listScopeIds(read: Tx, holder: ScopeHolder): number[] {
  return SCOPES[holder.kind].ids.all(read, holder.id).map((row) => row.project_id);
}

export function insertScope(tx: Tx, holder: ScopeHolder, project_id: number): void {
  SCOPES[holder.kind].add.run(tx, holder.id, project_id);
}

export function replaceScope(tx: Tx, holder: ScopeHolder, project_ids: readonly number[]): void {
  SCOPES[holder.kind].clear.run(tx, holder.id);
  for (const project_id of project_ids) insertScope(tx, holder, project_id);
}

/** The projects that somebody is scoped to, by name. */
export function listScope(read: Tx, holder: ScopeHolder): ProjectRow[] {
  return read
    .select()
    .from(projects)
    .where(conditionOf({ project_ids: listScopeIds(read, holder) }))
    .orderBy(asc(projects.name))
    .all();
}
