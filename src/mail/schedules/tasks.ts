/** The job that is one run of a schedule. */
import type { Task } from '../../platform/jobs/engine.ts';
import { SCHEDULE_RUN, type Schedules } from './service.ts';

/** Runs at once: each renders and stores at most 50 mails, so more would only compete for the same writer. */
const SCHEDULE_RUN_CONCURRENCY = 4;

/** Runs jobs of the type `schedule.run`. */
export function createScheduleTask(schedules: Schedules): Task<null> {
  return {
    type: SCHEDULE_RUN,
    lane_concurrency: SCHEDULE_RUN_CONCURRENCY,
    begin: () => ({ go: true, started: null }),
    run: (job) => schedules.runs.execute(job),
    abandon: (tx, job) => schedules.runs.abandon(tx, job),
  };
}
