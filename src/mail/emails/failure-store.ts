/** SQL of what a health check tells of mails that failed. */
import type { Database as Sqlite } from 'bun:sqlite';

/** The jobs of mails that failed since a moment, but for those of test keys, for which nobody waits. */
export function listFailedJobs(sqlite: Sqlite, since_ms: number): string[] {
  return sqlite
    .query<{ job_id: string | null }, [number]>(
      "SELECT job_id FROM emails WHERE status = 'failed' AND failed_at >= ? AND is_test = 0",
    )
    .all(since_ms)
    .map(({ job_id }) => job_id ?? '');
}
