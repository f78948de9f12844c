/** The job that makes a backup. */
import type { Task } from '../../platform/jobs/engine.ts';
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { BackupSchedule } from './schedule.ts';
import { BACKUP_MAKE, type Backups } from './service.ts';

/** Runs jobs of the type `backup.make`. */
export function createBackupTask(backups: Backups): Task<null> {
  return {
    type: BACKUP_MAKE,
    lane_concurrency: 1,
    begin(_tx, job) {
      if (job.attempts <= job.max_attempts) return { go: true, started: null };
      const error = 'The server stopped before it was done.';
      // No file is written within a transaction.
      queueMicrotask(() => backups.noteFailed(error));
      return { go: false, end: { status: 'failed', result: null, error } };
    },
    run: (job, _started, stopping) => backups.carryOut(job, stopping),
  };
}

/** Looks each minute, and at the start, whether the nightly one is due. */
export function backupCronEntries({ backup_schedule }: { backup_schedule: BackupSchedule }): CronEntry[] {
  return [
    { name: 'nightly backup', expression: '* * * * *', at_start: true, run: () => backup_schedule.tick() },
  ];
}
