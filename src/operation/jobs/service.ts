/** Jobs as clients poll them. The engine that runs them is platform. */
import { notFound } from '../../errors.ts';
import { SWEEP_BATCH } from '../../limits.ts';
import type { Database } from '../../platform/database/database.ts';
import { JOB_STATUSES, type JobRow, type JobStatus } from '../../platform/database/tables.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { isUlid } from '../../platform/host/ids.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { dateTime, named, nullable, oneOf, type Static, t, ulid } from '../../platform/http/schema.ts';
import { deleteFinishedJobs } from '../../platform/jobs/store.ts';
import { countJobs, findJob, listJobs } from './store.ts';

/** Finished jobs are kept this long for clients that poll late. */
export const JOB_RETENTION_MS = 30 * 86_400_000;

/** The contract's job. */
export const job = named(
  'Job',
  t.Object({
    id: ulid(),
    type: t.String(),
    status: oneOf(JOB_STATUSES),
    attempts: t.Integer(),
    result: nullable(t.Record(t.String(), t.Unknown())),
    error: nullable(t.String()),
    queued_at: dateTime(),
    started_at: nullable(dateTime()),
    finished_at: nullable(dateTime()),
  }),
);
type JobRecord = Static<typeof job>;

export class Jobs {
  constructor(private readonly deps: { database: Database; clock: Clock }) {}

  /** A project's job. Throws AppError `not_found`, for another project's too. */
  get(project_id: number, id: string): JobRecord {
    const row = isUlid(id) ? findJob(this.deps.database.read, id.toUpperCase()) : undefined;
    if (row?.project_id !== project_id) throw notFound('Job');
    return presentJob(row);
  }

  /** A job, whatever its project: for the shell. Throws AppError `not_found`. */
  requireAny(id: string): JobRecord {
    const row = isUlid(id) ? findJob(this.deps.database.read, id.toUpperCase()) : undefined;
    if (!row) throw notFound('Job');
    return presentJob(row);
  }

  /** A page of a project's jobs, newest first. */
  list(
    project_id: number,
    query: PageQuery & { status?: JobStatus | undefined; type?: string | undefined },
  ): Page<JobRecord> {
    const { read } = this.deps.database;
    const filter = { project_id, status: query.status, type: query.type };
    return paginate(query, {
      total: countJobs(read, filter),
      fetch: (limit, offset) => listJobs(read, filter, limit, offset),
    }).map(presentJob);
  }

  /** Forgets jobs that finished longer ago than anybody polls; returns how many. */
  async sweep(): Promise<number> {
    const before = this.deps.clock.now() - JOB_RETENTION_MS;
    let deleted = 0;
    for (;;) {
      const count = await this.deps.database.writePiece((tx) => deleteFinishedJobs(tx, before, SWEEP_BATCH));
      deleted += count;
      if (count < SWEEP_BATCH) return deleted;
    }
  }
}

function presentJob(row: JobRow): JobRecord {
  return {
    id: row.id,
    type: row.type,
    status: row.status,
    attempts: row.attempts,
    result: row.result,
    error: row.error,
    queued_at: toIso(row.queued_at),
    started_at: toIso(row.started_at),
    finished_at: toIso(row.finished_at),
  };
}
