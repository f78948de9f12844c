/** Queueing again what failed in a project, as the log's filter has it. */
import { letOthers } from '../../platform/host/waiting.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { listFailedAfter, type RetryBody } from '../emails/service.ts';
import {
  EMAIL_RETRY_BATCH_ROWS,
  type RequeueDeps,
  reasonToLeave,
  refusalOf,
  requeueEmails,
} from './requeue.ts';

/** Queued by one call, a second of work; whoever wants more asks once more. */
export const MAX_RETRIED_EMAILS = 1_000;

/** Numbers of all that fit, but for those queued, of which there is a most a call. */
export interface Requeued {
  matching: number;
  queued: number;
  /** Those that can't be queued, as their content is no longer kept. */
  refused: number;
  left_out: number;
}

/**
 * Queues failed mails of a project again, oldest first and MAX_RETRIED_EMAILS at most, without those that had
 * better be looked at one by one. `is_dry_run`: none is queued.
 */
export async function requeueMatching(
  project_id: number,
  query: Omit<RetryBody, 'dry_run'>,
  options: { deps: RequeueDeps; actor: Actor; is_dry_run: boolean },
): Promise<Requeued> {
  const { deps, is_dry_run } = options;
  const { read } = deps.database;
  const told: Requeued = { matching: 0, queued: 0, refused: 0, left_out: 0 };
  for (let after: string | null = ''; after !== null; ) {
    const piece = listFailedAfter(read, project_id, query, { after, limit: EMAIL_RETRY_BATCH_ROWS });
    after = piece.last;
    const taken = piece.rows.filter((email) => reasonToLeave(read, email, deps) === null);
    const open = taken.filter((email) => refusalOf(read, email, deps) === null);
    const now = is_dry_run ? [] : open.slice(0, MAX_RETRIED_EMAILS - told.queued).map(({ id }) => id);
    const results = now.length === 0 ? [] : await requeueEmails(now, options);
    const queued = results.filter((result) => 'job_id' in result).length;
    told.matching += piece.rows.length;
    told.left_out += piece.rows.length - taken.length;
    told.queued += queued;
    told.refused += taken.length - open.length + results.length - queued;
    await letOthers();
  }
  return told;
}
