/** SQL of the jobs that clients poll; the engine's own is platform/jobs/store.ts. */
import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawAll } from '../../platform/database/raw-sql.ts';
import {
  JOB_STATUSES,
  type JobRow,
  type JobStatus,
  jobs,
  rowCounts,
} from '../../platform/database/tables.ts';

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

/**
 * The index of types has each status by itself, and SQLite merges them where each is asked for. Asked for all
 * at once, it would go through every job of the project until it has found enough of a rare type.
 */
const idsOfType = rawAll<{ id: string }, [project_id: number, type: string, limit: number, offset: number]>(
  `${JOB_STATUSES.map((status) => `SELECT id FROM jobs WHERE project_id = ?1 AND type = ?2 AND status = '${status}'`).join(' UNION ALL ')}
   ORDER BY id DESC LIMIT ?3 OFFSET ?4`,
);

/** Newest first. */
export function listJobs(tx: Tx, filter: JobFilter, limit: number, offset: number): JobRow[] {
  const { project_id, status, type } = filter;
  if (type !== undefined && status === undefined) {
    const ids = idsOfType(tx, project_id, type, limit, offset).map(({ id }) => id);
    return tx.select().from(jobs).where(inArray(jobs.id, ids)).orderBy(desc(jobs.id)).all();
  }
  return tx
    .select()
    .from(jobs)
    .where(
      and(
        eq(jobs.project_id, project_id),
        status === undefined ? undefined : eq(jobs.status, status),
        type === undefined ? undefined : eq(jobs.type, type),
      ),
    )
    .orderBy(desc(jobs.id))
    .limit(limit)
    .offset(offset)
    .all();
}
