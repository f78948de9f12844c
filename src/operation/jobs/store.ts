/** SQL of the jobs that clients poll; the engine's own is platform/jobs/store.ts. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { type JobRow, type JobStatus, jobs, rowCounts } from '../../platform/database/tables.ts';

const byId = statement((tx) =>
  tx
    .select()
    .from(jobs)
    .where(eq(jobs.id, sql.placeholder('id')))
    .prepare(),
);

export function findJob(tx: Tx, id: string): JobRow | undefined {
  return byId(tx).get({ id });
}

interface JobFilter {
  project_id: number;
  status?: JobStatus | undefined;
  type?: string | undefined;
}

/** From the counters that triggers keep by type and status: a project has a handful of them. */
export function countJobs(tx: Tx, filter: JobFilter): number {
  return tx
    .select({ facet: rowCounts.facet, n: rowCounts.n })
    .from(rowCounts)
    .where(and(eq(rowCounts.list, 'jobs'), eq(rowCounts.project_id, filter.project_id)))
    .all()
    .filter(({ facet }) => {
      const at = facet.lastIndexOf(':');
      const fits_type = filter.type === undefined || facet.slice(0, at) === filter.type;
      return fits_type && (filter.status === undefined || facet.slice(at + 1) === filter.status);
    })
    .reduce((sum, { n }) => sum + n, 0);
}

/** Newest first. Most jobs are completed: of those it is the type that fits few, of others the status. */
export function listJobs(tx: Tx, filter: JobFilter, limit: number, offset: number): JobRow[] {
  const { project_id, status, type } = filter;
  const by_type = type !== undefined && (status === undefined || status === 'completed');
  // The `+` keeps SQLite from the other's index.
  const ofStatus = by_type ? sql`+${jobs.status}` : sql`${jobs.status}`;
  const ofType = by_type ? sql`${jobs.type}` : sql`+${jobs.type}`;
  return tx
    .select()
    .from(jobs)
    .where(
      and(
        eq(jobs.project_id, project_id),
        status === undefined ? undefined : sql`${ofStatus} = ${status}`,
        type === undefined ? undefined : sql`${ofType} = ${type}`,
      ),
    )
    .orderBy(desc(jobs.id))
    .limit(limit)
    .offset(offset)
    .all();
}
