/** SQL of what a health check tells of mails that failed, or of which nobody knows whether they were sent. */
import type { Database as Sqlite } from 'bun:sqlite';

/** The jobs of those mails since a moment, but for those of test keys, for which nobody waits. */
export function listFailedJobs(
  sqlite: Sqlite,
  since_ms: number,
): { job_id: string; status: 'failed' | 'unknown' }[] {
  return sqlite
    .query<{ job_id: string; status: 'failed' | 'unknown' }, [number]>(
      `SELECT coalesce(job_id, '') AS job_id, status FROM emails
       WHERE status IN ('failed', 'unknown') AND failed_at >= ? AND is_test = 0`,
    )
    .all(since_ms);
}
