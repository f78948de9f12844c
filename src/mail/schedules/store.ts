/** SQL of recurring email schedules and of the progress of their runs. */
import { and, desc, eq, gt, gte, lte, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { readRowCount } from '../../platform/database/row-counts.ts';
import { jobs } from '../../platform/database/tables.ts';
import { firstIdOf } from '../../platform/host/ids.ts';
import { emailSchedules, type LastStatus, type ScheduleRow } from './tables.ts';

export function insertSchedule(tx: Tx, schedule: ScheduleRow): void {
  tx.insert(emailSchedules).values(schedule).run();
}

export function findSchedule(tx: Tx, project_id: number, id: string): ScheduleRow | undefined {
  return tx
    .select()
    .from(emailSchedules)
    .where(and(eq(emailSchedules.id, id), eq(emailSchedules.project_id, project_id)))
    .get();
}

export function findProjectOfSchedule(tx: Tx, id: string): number | null {
  const found = tx
    .select({ project_id: emailSchedules.project_id })
    .from(emailSchedules)
    .where(eq(emailSchedules.id, id))
    .get();
  return found?.project_id ?? null;
}

/** Of whatever project. */
export function findAnySchedule(tx: Tx, id: string): ScheduleRow | undefined {
  return tx.select().from(emailSchedules).where(eq(emailSchedules.id, id)).get();
}

/** Newest first. */
export function listSchedulesCalled(tx: Tx, project_id: number, name: string): ScheduleRow[] {
  return tx
    .select()
    .from(emailSchedules)
    .where(and(eq(emailSchedules.project_id, project_id), eq(emailSchedules.name, name)))
    .orderBy(desc(emailSchedules.id))
    .all();
}

export function countSchedulesUsing(tx: Tx, project_id: number, template: string): number {
  return tx
    .select({ id: emailSchedules.id })
    .from(emailSchedules)
    .where(and(eq(emailSchedules.project_id, project_id), eq(emailSchedules.template, template)))
    .all().length;
}

export function countSchedules(tx: Tx, project_id: number): number {
  return readRowCount(tx, { list: 'email_schedules', project_id });
}

/** Newest first. */
export function listSchedules(
  tx: Tx,
  of: { project_id: number; template?: string | undefined },
  limit: number,
  offset: number,
): ScheduleRow[] {
  const { project_id, template } = of;
  return tx
    .select()
    .from(emailSchedules)
    .where(
      and(
        eq(emailSchedules.project_id, project_id),
        template === undefined ? undefined : eq(emailSchedules.template, template),
      ),
    )
    .orderBy(desc(emailSchedules.id))
    .limit(limit)
    .offset(offset)
    .all();
}

export function updateSchedule(tx: Tx, id: string, changes: Partial<ScheduleRow>): void {
  tx.update(emailSchedules).set(changes).where(eq(emailSchedules.id, id)).run();
}

export function deleteSchedule(tx: Tx, id: string): void {
  tx.delete(emailSchedules).where(eq(emailSchedules.id, id)).run();
}

export type DueSchedule = Pick<
  ScheduleRow,
  'id' | 'project_id' | 'api_key_id' | 'is_test' | 'cron_expression' | 'timezone' | 'missed_runs'
> & { next_run_at: number };

/**
 * Schedules whose next run is due, but for those of projects that are left out; the longest waiting first,
 * without what only a run needs.
 */
export function listDueSchedules(
  tx: Tx,
  now_ms: number,
  of: { limit: number; without_projects: readonly number[] },
): DueSchedule[] {
  const without = JSON.stringify(of.without_projects);
  return tx
    .select({
      id: emailSchedules.id,
      project_id: emailSchedules.project_id,
      api_key_id: emailSchedules.api_key_id,
      is_test: emailSchedules.is_test,
      cron_expression: emailSchedules.cron_expression,
      timezone: emailSchedules.timezone,
      missed_runs: emailSchedules.missed_runs,
      next_run_at: sql<number>`${emailSchedules.next_run_at}`,
    })
    .from(emailSchedules)
    .where(
      and(
        lte(emailSchedules.next_run_at, now_ms),
        sql`${emailSchedules.project_id} NOT IN (SELECT value FROM json_each(${without}))`,
      ),
    )
    .orderBy(emailSchedules.next_run_at)
    .limit(of.limit)
    .all();
}

export function listMovedSchedules(read: Tx, project_id: number): string[] {
  const moved = and(eq(emailSchedules.project_id, project_id), eq(emailSchedules.is_moved, true));
  const found = read.select({ id: emailSchedules.id }).from(emailSchedules).where(moved).all();
  return found.map(({ id }) => id);
}

/** Those that a restore paused, of one project or of all. */
export function listHeldSchedules(read: Tx, project_id: number | null): ScheduleRow[] {
  const of_project = project_id === null ? undefined : eq(emailSchedules.project_id, project_id);
  return read
    .select()
    .from(emailSchedules)
    .where(and(eq(emailSchedules.is_held, true), of_project))
    .all();
}

/** Schedules that wait for a later time, by id. */
export function listWaitingSchedules(
  tx: Tx,
  now_ms: number,
  page: { after_id: string; limit: number },
): (Pick<ScheduleRow, 'id' | 'project_id' | 'cron_expression' | 'timezone'> & { next_run_at: number })[] {
  return tx
    .select({
      id: emailSchedules.id,
      project_id: emailSchedules.project_id,
      cron_expression: emailSchedules.cron_expression,
      timezone: emailSchedules.timezone,
      next_run_at: sql<number>`${emailSchedules.next_run_at}`,
    })
    .from(emailSchedules)
    .where(and(gt(emailSchedules.id, page.after_id), gt(emailSchedules.next_run_at, now_ms)))
    .orderBy(emailSchedules.id)
    .limit(page.limit)
    .all();
}

/** The runs on the cadence of a schedule that were queued when the clock said a later time than this. */
export function listRunsQueuedAfter(
  tx: Tx,
  schedule: { id: string; project_id: number },
  run: { type: string; after_ms: number },
): { due_at: number; queued_at: number }[] {
  const due_at = sql<number>`json_extract(${jobs.payload}, '$.due_at')`;
  return tx
    .select({ due_at, queued_at: jobs.queued_at })
    .from(jobs)
    .where(
      and(
        eq(jobs.project_id, schedule.project_id),
        // The `+` keeps SQLite from the index of types, where it would look at every run: the ids from then
        // on are few.
        gte(jobs.id, firstIdOf(run.after_ms)),
        sql`+${jobs.type} = ${run.type}`,
        gt(jobs.queued_at, run.after_ms),
        sql`json_extract(${jobs.payload}, '$.schedule_id') = ${schedule.id}`,
        sql`${due_at} IS NOT NULL`,
      ),
    )
    .all();
}

/** Notes how a run ended, unless a later one was queued since: the status belongs to the last run. */
export function noteRunEnd(
  tx: Tx,
  run: { schedule_id: string; queued_at: number },
  last_status: LastStatus,
): void {
  tx.update(emailSchedules)
    .set({ last_status })
    .where(and(eq(emailSchedules.id, run.schedule_id), lte(emailSchedules.last_run_at, run.queued_at)))
    .run();
}

/** Notes in a job how far its run has come, in the transaction that took it there. */
export function saveRunPayload(tx: Tx, job_id: string, payload: Record<string, unknown>): void {
  tx.update(jobs).set({ payload }).where(eq(jobs.id, job_id)).run();
}
