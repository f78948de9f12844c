/** SQL of what a health check tells of mails that failed. */
import type { Database as Sqlite } from 'bun:sqlite';
import { readCount } from '../../platform/database/plain-connection.ts';

const FAILED_SINCE = "FROM emails WHERE status = 'failed' AND failed_at >= ? AND is_test = 0";

/** Mails that failed since a moment, but for those of test keys, for which nobody waits. */
export function countFailedEmails(sqlite: Sqlite, since_ms: number): number {
  return readCount(sqlite, `SELECT count(*) ${FAILED_SINCE}`, since_ms);
}

/** How many of them `satchel email retry --failed` leaves out: those that were sent while their client waited. */
export function countLeftOutEmails(sqlite: Sqlite, since_ms: number): number {
  const had_one_attempt = '(SELECT max_attempts FROM jobs WHERE id = job_id) = 1';
  return readCount(sqlite, `SELECT count(*) ${FAILED_SINCE} AND ${had_one_attempt}`, since_ms);
}
