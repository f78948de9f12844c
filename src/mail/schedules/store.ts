/** SQL of recurring email schedules and of the progress of their runs. */
import { and, eq, gt, gte, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawRun, rawValues } from '../../platform/database/raw-sql.ts';
import { recordStore } from '../../platform/database/record-store.ts';
import { readRowCount } from '../../platform/database/store.ts';
import { jobs } from '../../platform/database/tables.ts';
import { firstIdOf } from '../../platform/host/ids.ts';
import { emailSchedules, type LastStatus, type ScheduleRow } from './tables.ts';

export const schedules = recordStore<ScheduleRow>(emailSchedules);

export const countSchedulesUsing = rawCount<[project_id: number, template: string]>(
  'SELECT count(*) FROM email_schedules WHERE project_id = ? AND template = ?',
);

export function countSchedules(tx: Tx, project_id: number): number {
  return readRowCount(tx, { list: 'email_schedules', project_id });
}

/** A page of a project's, of those alone that send this template where one is given; newest first. */
export function listSchedules(
  read: Tx,
  { project_id, template }: { project_id: number; template?: string | undefined },
  page: { limit: number; offset: number },
): ScheduleRow[] {
  const sends = template === undefined ? undefined : eq(emailSchedules.template, template);
  return schedules.list(read, and(eq(emailSchedules.project_id, project_id), sends), page);
}

export type DueSchedule = Pick<
  ScheduleRow,
  'id' | 'project_id' | 'api_key_id' | 'is_test' | 'cron_expression' | 'timezone' | 'missed_runs'
> & { next_run_at: number };

const dueSchedules = rawAll<DueSchedule, [{ now_ms: number; limit: number; without: string }]>(
  `SELECT id, project_id, api_key_id, is_test, cron_expression, timezone, missed_runs, next_run_at FROM email_schedules
   WHERE next_run_at <= +:now_ms AND project_id NOT IN (SELECT value FROM json_each(:without))
   ORDER BY next_run_at LIMIT +:limit`,
  emailSchedules,
);

/**
 * Schedules whose next run is due, but for those of projects that are left out; the longest waiting first,
 * without what only a run needs.
 */
export function listDueSchedules(
  tx: Tx,
  now_ms: number,
  of: { limit: number; without_projects: readonly number[] },
): DueSchedule[] {
  return dueSchedules(tx, { now_ms, limit: of.limit, without: JSON.stringify(of.without_projects) });
}

export const listMovedSchedules = rawValues<string, [project_id: number]>(
  'SELECT id FROM email_schedules WHERE project_id = ? AND is_moved = 1',
);

/** Those that a restore paused, of one project or of all. */
export const listHeldSchedules = rawAll<ScheduleRow, [project_id: number | null]>(
  'SELECT * FROM email_schedules WHERE is_held = 1 AND (?1 IS NULL OR project_id = ?1)',
  emailSchedules,
);

type WaitingSchedule = Pick<ScheduleRow, 'id' | 'project_id' | 'cron_expression' | 'timezone'> & {
  next_run_at: number;
};

/** Schedules that wait for a later time, by id. */
export const listWaitingSchedules = rawAll<
  WaitingSchedule,
  [{ now_ms: number; after_id: string; limit: number }]
>(
  `SELECT id, project_id, cron_expression, timezone, next_run_at FROM email_schedules
   WHERE id > +:after_id AND next_run_at > +:now_ms ORDER BY id LIMIT +:limit`,
);

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
export const noteRunEnd = rawRun<[{ schedule_id: string; queued_at: number; last_status: LastStatus }]>(
  'UPDATE email_schedules SET last_status = :last_status WHERE id = :schedule_id AND last_run_at <= :queued_at',
);

/** Notes in a job how far its run has come, in the transaction that took it there. */
export function saveRunPayload(tx: Tx, job_id: string, payload: Record<string, unknown>): void {
  tx.update(jobs).set({ payload }).where(eq(jobs.id, job_id)).run();
}
