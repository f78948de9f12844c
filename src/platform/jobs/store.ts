/**
 * The job queue's SQL. A job is a row, and a task the function that runs it (`engine.ts`). States: pending,
 * processing, completed, failed. Jobs compete within a lane: urgent ones go first, and projects take turns.
 */
import type { Database as Sqlite } from 'bun:sqlite';
import { and, desc, eq, gt, isNull, lt, sql } from 'drizzle-orm';
import { AppError } from '../../errors.ts';
import type { Tx } from '../database/database.ts';
import { readCount } from '../database/plain-connection.ts';
import { rawAll, rawGet, rawRun } from '../database/raw-sql.ts';
import { type JobRow, jobs } from '../database/tables.ts';
import { newId } from '../host/ids.ts';

/** Lower runs first. */
export const PRIORITY = { transactional: 0, scheduled: 10, marketing: 20, background: 30 } as const;

/** `run_at` of a job that is due at once: no jump of the clock can hold it back. */
export const AT_ONCE = 0;

/** The due time of what waits until it is released: a job (`run_at`) or bulk mail. */
export const HELD = Number.MAX_SAFE_INTEGER;
/** Past any date: what is due later waits until it is released. */
export const LAST_DATE_MS = 8.64e15;

export function isHeld(due_at: number): boolean {
  return due_at > LAST_DATE_MS;
}

export interface NewJob {
  /** Null for a job of no project. */
  project_id: number | null;
  type: string;
  priority: number;
  /** What the job competes for with others of its type, such as a sending domain. */
  resource?: string;
  payload: Record<string, unknown>;
  max_attempts: number;
  /** Epoch milliseconds; at once unless given. */
  run_at?: number;
}

/** A job competes in its lane: its type by itself, or one resource of its type. */
export function laneOf(job: Pick<NewJob, 'type' | 'resource'>): string {
  return job.resource === undefined ? job.type : `${job.type}:${job.resource}`;
}

/** The project of a job whose type has one. */
export function projectOf({ type, project_id }: JobRow): number {
  if (project_id === null) throw new AppError('internal', `A job of the type ${type} is of no project.`);
  return project_id;
}

/** Adds a pending job within the transaction of the change it belongs to, and returns its id. */
export function insertJob(tx: Tx, job: NewJob, now_ms: number): string {
  const id = newId(now_ms);
  insert(
    tx,
    id,
    job.project_id,
    job.type,
    job.priority,
    laneOf(job),
    job.run_at ?? AT_ONCE,
    job.max_attempts,
    JSON.stringify(job.payload),
    now_ms,
  );
  return id;
}

// Written out here and below, where every job passes.
const insert = rawRun<[string, number | null, string, number, string, number, number, string, number]>(`
  INSERT INTO jobs (id, project_id, type, status, priority, lane, run_at, attempts, max_attempts, interruptions,
    payload, queued_at)
  VALUES (?, ?, ?, 'pending', ?, ?, ?, 0, ?, 0, ?, ?)`);

/** Pending jobs of one priority, lane and project, known by the one that is due first. */
export interface PendingGroup {
  priority: number;
  lane: string;
  project_id: number | null;
  first_run_at: number;
}

/** The status is a literal, so that SQLite sees that the partial index holds every row asked for. */
const GROUPS = `SELECT priority, lane, project_id, run_at AS first_run_at FROM jobs WHERE status = 'pending'`;
const GROUP_ORDER = 'ORDER BY priority, lane, project_id, run_at LIMIT 1';

// Three statements: for (priority, lane, project_id) > (?, ?, ?) SQLite would step over all jobs of a group.
const nextProject = rawGet<PendingGroup, [number, string, number]>(
  `${GROUPS} AND priority = +? AND lane = +? AND project_id > +? ${GROUP_ORDER}`,
);
const nextLane = rawGet<PendingGroup, [number, string]>(
  `${GROUPS} AND priority = +? AND lane > +? ${GROUP_ORDER}`,
);
const nextPriority = rawGet<PendingGroup, [number]>(`${GROUPS} AND priority > +? ${GROUP_ORDER}`);

function groupAfter(
  tx: Tx,
  { priority, lane, project_id }: PendingGroup,
  skip_lane: boolean,
): PendingGroup | null {
  return (
    (skip_lane ? null : nextProject(tx, priority, lane, project_id ?? 0)) ??
    nextLane(tx, priority, lane) ??
    nextPriority(tx, priority)
  );
}

/**
 * Every group with pending jobs, most urgent first, without full lanes. It takes up to three index seeks for
 * each group, however many jobs wait in it, and one for each full lane.
 */
export function listPendingGroups(tx: Tx, isFull: (lane: string) => boolean): PendingGroup[] {
  const groups: PendingGroup[] = [];
  let group = nextPriority(tx, Number.MIN_SAFE_INTEGER);
  while (group) {
    const is_full = isFull(group.lane);
    if (!is_full) groups.push(group);
    group = groupAfter(tx, group, is_full);
  }
  return groups;
}

const dueOfGroup = rawAll<JobRow, [number, string, number | null, number, number]>(
  `SELECT * FROM jobs
   WHERE status = 'pending' AND priority = +? AND lane = +? AND project_id IS +? AND run_at <= +?
   ORDER BY run_at, id LIMIT +?`,
  jobs,
);

/** Up to `limit` due jobs of a group, oldest first. */
export function listDueJobs(tx: Tx, group: PendingGroup, now_ms: number, limit: number): JobRow[] {
  return dueOfGroup(tx, group.priority, group.lane, group.project_id, now_ms, limit);
}

/** Marks a job as begun: the attempt is on record before anything happens. */
export const startJob = rawRun<[id: string, now_ms: number]>(
  "UPDATE jobs SET status = 'processing', attempts = attempts + 1, started_at = ?2 WHERE id = ?1",
);

const finish = rawRun<[string, string | null, string | null, number, string]>(
  'UPDATE jobs SET status = ?, result = ?, error = ?, finished_at = ? WHERE id = ?',
);

export interface JobEnd {
  status: 'completed' | 'failed';
  result: Record<string, unknown> | null;
  error: string | null;
}

/** Ends a job. */
export function finishJob(tx: Tx, id: string, end: JobEnd, now_ms: number): void {
  const result = end.result === null ? null : JSON.stringify(end.result);
  finish(tx, end.status, result, end.error, now_ms, id);
}

/** Puts a job back to wait until `run_at`, with the reason. Its attempt counts only if that is said. */
export function postponeJob(
  tx: Tx,
  id: string,
  options: { run_at: number; error: string | null; counts: boolean },
): void {
  const { run_at, error, counts } = options;
  tx.update(jobs)
    .set({ status: 'pending', run_at, error, ...(counts ? {} : { attempts: sql`${jobs.attempts} - 1` }) })
    .where(eq(jobs.id, id))
    .run();
}

/**
 * Puts a job back to go on, at once unless told, and takes back the attempt that was begun. Before its first
 * it has not started.
 */
export function continueJob(tx: Tx, id: string, options: { run_at?: number; lane?: string }): void {
  const { run_at = AT_ONCE, lane } = options;
  tx.update(jobs)
    .set({
      status: 'pending' as const,
      run_at,
      attempts: sql`${jobs.attempts} - 1`,
      started_at: sql`iif(${jobs.attempts} > 1, ${jobs.started_at}, NULL)`,
      ...(lane ? { lane } : {}),
    })
    .where(eq(jobs.id, id))
    .run();
}

/** Has a waiting job come at a moment, if that is earlier. Each mail that ends asks for it. */
export const hastenJob = rawRun<[id: string, run_at: number]>(
  "UPDATE jobs SET run_at = ?2 WHERE id = ?1 AND status = 'pending' AND run_at > ?2",
);

/** Has a waiting job come at another moment, in another lane. Returns 0 for one that does not wait. */
export const moveJob = rawRun<[id: string, run_at: number, lane: string]>(
  "UPDATE jobs SET run_at = ?2, lane = ?3 WHERE id = ?1 AND status = 'pending'",
);

export const findJob = rawGet<JobRow, [id: string]>('SELECT * FROM jobs WHERE id = ?', jobs);

// By the queue's own indexes: those that have ended, which may be very many, are in neither.
const OPEN = `SELECT id, payload, queued_at FROM jobs
    WHERE status = 'pending' AND priority = ?1 AND lane = ?2 AND project_id IS ?3
  UNION ALL SELECT id, payload, queued_at FROM jobs
    WHERE status = 'processing' AND priority = ?1 AND lane = ?2 AND project_id IS ?3`;
type OfLane = [priority: number, lane: string, project_id: number | null];

/** A job of a lane and a project, or of none, that has not ended. */
export const findOpenJob = rawGet<Pick<JobRow, 'id'>, OfLane>(`${OPEN} LIMIT 1`);

/** As `findOpenJob`, all in whose payload a field has this value. */
export const listOpenJobsWith = rawAll<
  Pick<JobRow, 'id' | 'payload' | 'queued_at'>,
  [...OfLane, field: string, value: string]
>(`SELECT * FROM (${OPEN}) WHERE payload ->> ?4 = ?5`, jobs);

/** Jobs of a type that wait for a moment after one, but for what is held. */
export function listWaitingJobs(read: Tx, type: string, after_ms: number): JobRow[] {
  return read
    .select()
    .from(jobs)
    .where(
      and(
        sql`${jobs.status} = 'pending'`,
        eq(jobs.type, type),
        gt(jobs.run_at, after_ms),
        lt(jobs.run_at, LAST_DATE_MS),
      ),
    )
    .all();
}

/** How many of these jobs had one try and no more. */
export function countSingleTries(sqlite: Sqlite, ids: readonly string[]): number {
  const of = 'FROM jobs WHERE max_attempts = 1 AND id IN (SELECT value FROM json_each(?))';
  return readCount(sqlite, `SELECT count(*) ${of}`, JSON.stringify(ids));
}

/** Empties what a job is to do, where that names somebody. */
export function forgetPayload(tx: Tx, id: string): void {
  tx.update(jobs).set({ payload: {} }).where(eq(jobs.id, id)).run();
}

/** Forgets what a job ended with, where that names somebody. */
export function forgetJobError(tx: Tx, id: string): void {
  tx.update(jobs).set({ error: null }).where(eq(jobs.id, id)).run();
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
  const waits = sql`${jobs.run_at} BETWEEN 1 AND ${LAST_DATE_MS}`;
  tx.update(jobs)
    .set({ run_at: sql`max(1, ${jobs.run_at} - ${by_ms})` })
    .where(and(sql`${jobs.status} = 'pending'`, sql`${jobs.attempts} > 0`, waits))
    .run();
}

/** Deletes up to `limit` finished jobs from before a moment, and returns how many there were. */
export function deleteFinishedJobs(tx: Tx, before_ms: number, limit: number): number {
  const old = tx.select({ id: jobs.id }).from(jobs).where(lt(jobs.finished_at, before_ms)).limit(limit);
  return tx.delete(jobs).where(sql`${jobs.id} IN ${old}`).returning({ id: jobs.id }).all().length;
}

/** Jobs of a type that are of no project, newest first. */
export function listJobsOfNoProject(tx: Tx, type: string): JobRow[] {
  return tx
    .select()
    .from(jobs)
    .where(and(isNull(jobs.project_id), eq(jobs.type, type)))
    .orderBy(desc(jobs.id))
    .all();
}

export function deleteJob(tx: Tx, id: string): void {
  tx.delete(jobs).where(eq(jobs.id, id)).run();
}
