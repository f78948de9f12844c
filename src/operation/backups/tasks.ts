/** The job that makes a backup. */
import type { Task } from '../../platform/jobs/engine.ts';
import { BACKUP_MAKE, type Backups } from './service.ts';

/** Runs jobs of the type `backup.make`. */
export function createBackupTask(backups: Backups): Task<null> {
  return {
    type: BACKUP_MAKE,
    lane_concurrency: 1,
    begin: (_tx, job) =>
      job.attempts > job.max_attempts
        ? {
            go: false,
            end: { status: 'failed', result: null, error: 'The server stopped before it was done.' },
          }
        : { go: true, started: null },
    run: (job, _started, stopping) => backups.carryOut(job, stopping),
  };
}
