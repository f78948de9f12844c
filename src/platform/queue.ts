/**
 * The job queue's SQL. A job is a row, a task the function that runs it (`worker.ts`). States: pending, processing,
 * completed, failed. Jobs compete within a lane; within one, urgent ones go first and projects take turns.
 */
import { and, eq, lt, lte, sql } from 'drizzle-orm';
import { statement, type Tx } from './database.ts';
import { newId } from './ids.ts';
import { type JobRow, jobs } from './tables.ts';

/** Lower runs first. */
export const PRIORITY = { transactional: 0, scheduled: 10, marketing: 20, background: 30 } as const;

/** `run_at` of a job that is due at once: no jump of the clock can hold it back. */
export const AT_ONCE = 0;

export interface NewJob {
  project_id: number;
  type: string;
  priority: number;
  /** What the job competes for with others of its type, such as a sending domain. */
  resource?: string;
  payload: Record<string, unknown>;
  max_attempts: number;
  /** Epoch milliseconds; at once unless given. */
  run_at?: number;
}

/** Adds a pending job within the transaction of the change it belongs to, and returns its id. */
export function insertJob(tx: Tx, job: NewJob, now_ms: number): string {
  const id = newId(now_ms);
  insertStatement(tx).run({
    id,
    project_id: job.project_id,
    type: job.type,
    priority: job.priority,
    lane: job.resource === undefined ? job.type : `${job.type}:${job.resource}`,
    run_at: job.run_at ?? AT_ONCE,
    max_attempts: job.max_attempts,
    payload: job.payload,
    queued_at: now_ms,
  });
  return id;
}

const insertStatement = statement((tx) =>
  tx
    .insert(jobs)
    .values({
      id: sql.placeholder('id'),
      project_id: sql.placeholder('project_id'),
      type: sql.placeholder('type'),
      status: 'pending',
      priority: sql.placeholder('priority'),
      lane: sql.placeholder('lane'),
      run_at: sql.placeholder('run_at'),
      attempts: 0,
      max_attempts: sql.placeholder('max_attempts'),
      interruptions: 0,
      payload: sql.placeholder('payload'),
      queued_at: sql.placeholder('queued_at'),
    })
    .prepare(),
);

/** Pending jobs of one priority, lane and project, known by the one that is due first. */
export interface PendingGroup {
  priority: number;
  lane: string;
  project_id: number;
  first_run_at: number;
}

const nextGroup = statement((tx) =>
  tx
    .select({
      priority: jobs.priority,
      lane: jobs.lane,
      project_id: jobs.project_id,
      first_run_at: jobs.run_at,
    })
    .from(jobs)
    .where(
      and(
        // A literal, so that SQLite sees that the partial index holds every row asked for.
        sql`${jobs.status} = 'pending'`,
        sql`(${jobs.priority}, ${jobs.lane}, ${jobs.project_id}) > (${sql.placeholder('priority')}, ${sql.placeholder('lane')}, ${sql.placeholder('project_id')})`,
      ),
    )
    .orderBy(jobs.priority, jobs.lane, jobs.project_id, jobs.run_at)
    .limit(1)
    .prepare(),
);

/** Every group that has pending jobs, most urgent first: one index seek a group, however many jobs wait in it. */
export function listPendingGroups(tx: Tx): PendingGroup[] {
  const groups: PendingGroup[] = [];
  let after = { priority: Number.MIN_SAFE_INTEGER, lane: '', project_id: 0 };
  for (;;) {
    const group = nextGroup(tx).get(after);
    if (!group) return groups;
    groups.push(group);
    after = group;
  }
}

const dueOfGroup = statement((tx) =>
  tx
    .select()
    .from(jobs)
    .where(
      and(
        sql`${jobs.status} = 'pending'`,
        eq(jobs.priority, sql.placeholder('priority')),
        eq(jobs.lane, sql.placeholder('lane')),
        eq(jobs.project_id, sql.placeholder('project_id')),
        lte(jobs.run_at, sql.placeholder('now_ms')),
      ),
    )
    .orderBy(jobs.run_at, jobs.id)
    .limit(sql.placeholder('limit'))
    .prepare(),
);

/** Up to `limit` due jobs of a group, oldest first. */
export function listDueJobs(tx: Tx, group: PendingGroup, now_ms: number, limit: number): JobRow[] {
  return dueOfGroup(tx).all({ ...group, now_ms, limit });
}

const startStatement = statement((tx) =>
  tx
    .update(jobs)
    .set({
      status: 'processing',
      attempts: sql`${jobs.attempts} + 1`,
      started_at: sql`${sql.placeholder('now_ms')}`,
    })
    .where(eq(jobs.id, sql.placeholder('id')))
    .prepare(),
);

/** Marks a job as begun: the attempt is on record before anything happens. */
export function startJob(tx: Tx, id: string, now_ms: number): void {
  startStatement(tx).run({ id, now_ms });
}

const finishStatement = statement((tx) =>
  tx
    .update(jobs)
    .set({
      status: sql`${sql.placeholder('status')}`,
      result: sql`${sql.placeholder('result')}`,
      error: sql`${sql.placeholder('error')}`,
      finished_at: sql`${sql.placeholder('now_ms')}`,
    })
    .where(eq(jobs.id, sql.placeholder('id')))
    .prepare(),
);

export interface JobEnd {
  status: 'completed' | 'failed';
  result: Record<string, unknown> | null;
  error: string | null;
}

/** Ends a job. */
export function finishJob(tx: Tx, id: string, end: JobEnd, now_ms: number): void {
  finishStatement(tx).run({
    id,
    status: end.status,
    result: end.result === null ? null : JSON.stringify(end.result),
    error: end.error,
    now_ms,
  });
}

/** Puts a job back to wait until `run_at`, remembering why. */
export function postponeJob(
  tx: Tx,
  id: string,
  options: { run_at: number; error: string | null; uncount_attempt?: boolean },
): void {
  tx.update(jobs)
    .set({
      status: 'pending',
      run_at: options.run_at,
      error: options.error,
      ...(options.uncount_attempt ? { attempts: sql`${jobs.attempts} - 1` } : {}),
    })
    .where(eq(jobs.id, id))
    .run();
}

/** Jobs that a crash left in the middle of an attempt. */
export function listInterruptedJobs(tx: Tx): JobRow[] {
  return tx.select().from(jobs).where(sql`${jobs.status} = 'processing'`).all();
}

/** Puts an interrupted job back: its attempt counts, but not towards those after which it fails. */
export function requeueInterruptedJob(tx: Tx, id: string): void {
  tx.update(jobs)
    .set({ status: 'pending', run_at: AT_ONCE, interruptions: sql`${jobs.interruptions} + 1` })
    .where(eq(jobs.id, id))
    .run();
}

/** Moves retries that wait for a time of the old clock along with a clock that was set back by `by_ms`. */
export function shiftRetries(tx: Tx, by_ms: number): void {
  tx.update(jobs)
    .set({ run_at: sql`max(1, ${jobs.run_at} - ${by_ms})` })
    .where(and(sql`${jobs.status} = 'pending'`, sql`${jobs.attempts} > 0`, sql`${jobs.run_at} > 0`))
    .run();
}

/** Deletes up to `limit` finished jobs from before a moment, and returns how many there were. */
export function deleteFinishedJobs(tx: Tx, before_ms: number, limit: number): number {
  const old = tx.select({ id: jobs.id }).from(jobs).where(lt(jobs.finished_at, before_ms)).limit(limit);
  return tx.delete(jobs).where(sql`${jobs.id} IN ${old}`).returning({ id: jobs.id }).all().length;
}
