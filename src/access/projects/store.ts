/** The SQL of projects and of the scopes of tokens and people. */

import type { Database as Sqlite } from 'bun:sqlite';
import { and, asc, count, desc, eq, type SQL, sql } from 'drizzle-orm';
import { conflict } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawHas, rawRun, rawValue, rawValues } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/store.ts';
import { type ProjectRow, projects } from './tables.ts';

/** Nobody sees a project before all of it has arrived from another Satchel. */
const IS_HERE = sql`${projects.status} <> 'arriving'`;

const here = (column: string) => `SELECT * FROM projects WHERE ${column} = ? AND status <> 'arriving'`;

export const findProjectById = rawGet<ProjectRow, [id: number]>(here('id'), projects);
export const findProjectByPublicId = rawGet<ProjectRow, [public_id: string]>(here('public_id'), projects);
export const findProjectBySlug = rawGet<ProjectRow, [slug: string]>(here('slug'), projects);

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

/** The columns that every request with an API key needs of its project: one indexed read. Null when it is gone. */
export const findProjectState = rawGet<ProjectState, [id: number]>(
  "SELECT id, public_id, status FROM projects WHERE id = ? AND status <> 'arriving'",
);

/** Of those of these that are there, by slug: for a health check, which has no more than the database. */
export function listSlugs(sqlite: Sqlite, ids: readonly number[]): string[] {
  const found = sqlite.query<{ slug: string }, [string]>(
    "SELECT slug FROM projects WHERE id IN (SELECT value FROM json_each(?)) AND status <> 'arriving' ORDER BY slug",
  );
  return found.all(JSON.stringify(ids)).map(({ slug }) => slug);
}

/** Each claim of jobs asks it of each project that has any waiting. */
export const isActive = rawHas<[id: number]>("SELECT 1 FROM projects WHERE id = ? AND status = 'active'");

/** Numeric ids of the projects of which nothing may be sent or run. */
export const listInactiveIds = rawValues<number>("SELECT id FROM projects WHERE status = 'inactive'");

/** Which sending domains a project's mail goes by, by name. */
export type Sending = Pick<ProjectRow, 'sending_domain' | 'sending_domains'>;

/** Asked for with every email and every attempt. Null when the project is gone. */
export const findSending = rawGet<Sending, [id: number]>(
  'SELECT sending_domain, sending_domains FROM projects WHERE id = ?',
  projects,
);

/** Asked for with the links of each mail. */
export const findActiveLinkDomain = rawValue<string, [id: number]>(
  "SELECT link_domain FROM projects WHERE id = ? AND link_domain_status = 'active'",
);

/**
 * The id of the project that has this link domain, whatever its status. Asked for with each request by a host name
 * that is not the public one.
 */
export const findProjectAtLinkDomain = rawValue<number, [name: string]>(
  'SELECT id FROM projects WHERE link_domain = ?',
);

export const listWithLinkDomain = rawAll<ProjectRow>(
  "SELECT * FROM projects WHERE link_domain IS NOT NULL AND status <> 'arriving' ORDER BY link_domain",
  projects,
);

/** Slugs of the projects that name a sending domain. */
export const listNaming = rawValues<string, [domain: string]>(`
  SELECT slug FROM projects
  WHERE status <> 'arriving' AND ?1 IN (SELECT sending_domain UNION ALL SELECT value FROM json_each(sending_domains))
  ORDER BY slug`);

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
export const listProjectsFrom = rawAll<ProjectRow, [beginning: string, limit: number]>(
  `SELECT * FROM projects WHERE slug BETWEEN ?1 AND ?1 || char(0x10FFFF) AND status <> 'arriving'
   ORDER BY slug LIMIT +?2`,
  projects,
);

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
export const deleteProject = rawRun<[id: number]>('DELETE FROM projects WHERE id = ?');

/** Who is scoped to projects. */
export interface ScopeHolder {
  readonly kind: 'token' | 'person' | 'trust';
  readonly id: number;
}

// Raw, as the tables belong to tokens and people: their definitions are not for this noun to import.
function scopeSql(table: string, column: string) {
  return {
    ids: rawValues<number, [number]>(`SELECT project_id FROM ${table} WHERE ${column} = ?`),
    // An id whose project was deleted meanwhile is left out.
    add: rawRun<[number, number]>(
      `INSERT INTO ${table} (${column}, project_id) SELECT ?, id FROM projects WHERE id = ? ON CONFLICT DO NOTHING`,
    ),
    clear: rawRun<[number]>(`DELETE FROM ${table} WHERE ${column} = ?`),
  };
}
const SCOPES = {
  token: scopeSql('access_token_projects', 'token_id'),
  person: scopeSql('person_projects', 'person_id'),
  trust: scopeSql('token_trust_projects', 'trust_id'),
};

/** Ids of the projects that somebody is scoped to: one indexed read, for every request of theirs. */
export function listScopeIds(read: Tx, holder: ScopeHolder): number[] {
  return SCOPES[holder.kind].ids(read, holder.id);
}

/** Adds a project to those that somebody is scoped to. Who has all of them has this one. */
export function insertScope(tx: Tx, holder: ScopeHolder, project_id: number): void {
  SCOPES[holder.kind].add(tx, holder.id, project_id);
}

/** Scopes somebody to these projects and no others, within the transaction that makes or changes them. */
export function replaceScope(tx: Tx, holder: ScopeHolder, project_ids: readonly number[]): void {
  SCOPES[holder.kind].clear(tx, holder.id);
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
