/** SQL of the jobs that clients poll; the engine's own is `platform/queue.ts`. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { statement, type Tx } from '../platform/database.ts';
import { type JobRow, type JobStatus, jobs, rowCounts } from '../platform/tables.ts';

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

export interface JobFilter {
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

/** Newest first. */
export function listJobs(tx: Tx, filter: JobFilter, limit: number, offset: number): JobRow[] {
  return tx
    .select()
    .from(jobs)
    .where(
      and(
        eq(jobs.project_id, filter.project_id),
        filter.status === undefined ? undefined : eq(jobs.status, filter.status),
        filter.type === undefined ? undefined : eq(jobs.type, filter.type),
      ),
    )
    .orderBy(desc(jobs.id))
    .limit(limit)
    .offset(offset)
    .all();
}
