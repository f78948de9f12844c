/**
 * An operator's requeue: emails that failed, bounced or are unknown are queued again as they were accepted.
 */

import type { Projects } from '../../access/projects/service.ts';
import { messageOf } from '../../errors.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import { type Database, mayPass, type Tx } from '../../platform/database/database.ts';
import { type Clock, utcDay } from '../../platform/host/clock.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { findJob } from '../../platform/jobs/store.ts';
import { type EmailRow, type Emails, emailLife, listFailed, wishesOf } from '../emails/service.ts';
import { takeMailbox } from '../mailboxes/service.ts';
import { keepFirstAttempt } from './beginning.ts';
import type { Listeners } from './listeners.ts';

/**
 * Emails that one transaction of `email retry` queues again, some 25 ms of work, and how long the server then
 * has the lock.
 */
export const EMAIL_RETRY_BATCH_ROWS = 50;
const EMAIL_RETRY_PAUSE_MS = 25;

/** The event of a retry in the audit trail; its target is `email:ID`, and `attempts` those made before it. */
export const EMAIL_RETRIED = 'email.retried';

export function auditTargetOf(email_id: string): string {
  return `email:${email_id}`;
}

/** `code` as the API has it; `conflict` where none is given. */
export type RetryResult =
  | { id: string; job_id: string | null }
  | { id: string; refusal: string; code?: 'not_found' | 'project_inactive' };
const OF_INACTIVE = 'its project is inactive';

/** A failed email that is not queued again unless it is named. */
export interface LeftOut {
  id: string;
  reason: string;
}

/** The emails that failed since a moment, and those of them that had better be looked at one by one. */
export function sortFailed(
  tx: Tx,
  since_ms: number,
  { listeners, projects }: Pick<RequeueDeps, 'listeners' | 'projects'>,
): { ids: string[]; left_out: LeftOut[] } {
  const left_out: LeftOut[] = [];
  const ids: string[] = [];
  for (const email of listFailed(tx, since_ms)) {
    const reason = reasonToLeave(tx, email, { listeners, projects });
    if (reason === null) ids.push(email.id);
    else left_out.push({ id: email.id, reason });
  }
  return { ids, left_out };
}

/**
 * Why a failed email is not queued again unless it is named: a relay may have taken it, its client was told of
 * the failure and has likely sent it again, it is of a test key or an inactive project, or its broadcast
 * sends it no more. Null where nothing speaks against it.
 */
export function reasonToLeave(
  tx: Tx,
  email: Pick<EmailRow, 'id' | 'project_id' | 'source' | 'is_test' | 'job_id' | 'status'>,
  { listeners, projects }: Pick<RequeueDeps, 'listeners' | 'projects'>,
): string | null {
  const { is_test, job_id, status } = email;
  if (!projects.isActive(email.project_id, tx)) return OF_INACTIVE;
  if (status === 'unknown') return 'its relay may have taken it: sent again, it may arrive twice';
  if (is_test) return 'it is of a test key';
  if (job_id !== null && findJob(tx, job_id)?.max_attempts === 1)
    return 'its client was told at once that it failed, and may have sent it again';
  if (email.source === 'broadcast' && listeners.decideSend(tx, email) === 'cancel')
    return 'its broadcast was cancelled, or its recipient is to get nothing more';
  return null;
}

export interface RequeueDeps {
  database: Database;
  clock: Clock;
  emails: Pick<Emails, 'hasContent' | 'reopen'>;
  objects: { findMany(tx: Tx, project_id: number, public_ids: readonly string[]): readonly unknown[] };
  projects: Pick<Projects, 'findById' | 'isActive'>;
  /** They say whether bulk mail that is tried again would be sent. */
  listeners: Pick<Listeners, 'decideSend'>;
}

/**
 * Queues emails again, each by itself, and says of each what became of it. A command does this beside the
 * server, which waits with every write for the lock: it is let go of after a few emails, and for about as
 * long as they held it.
 */
export async function requeueEmails(
  ids: readonly string[],
  options: { deps: RequeueDeps; actor: Actor },
): Promise<RetryResult[]> {
  const { database, clock } = options.deps;
  const results: RetryResult[] = [];
  for (let from = 0; from < ids.length; from += EMAIL_RETRY_BATCH_ROWS) {
    if (from > 0) await Bun.sleep(EMAIL_RETRY_PAUSE_MS);
    const batch = ids.slice(from, from + EMAIL_RETRY_BATCH_ROWS);
    try {
      const retried = await database.write((tx) => {
        const now_ms = clock.now();
        return batch.map((id) => requeueEmail(tx, id.toUpperCase(), { ...options, now_ms }));
      });
      results.push(...retried);
    } catch (error) {
      // After a failure, too, it must be told what is queued already.
      if (from === 0 || !mayPass(error)) throw error;
      return [...results, ...ids.slice(from).map((id) => refused(id, messageOf(error)))];
    }
  }
  return results;
}

/**
 * Gives an email that failed, bounced or is unknown a new job with all its attempts, and today's quota where
 * its own day is over. Only recipients that no relay has taken are addressed, and its own. It is put on the
 * audit trail; a refusal changes nothing.
 */
function requeueEmail(
  tx: Tx,
  id: string,
  options: { deps: RequeueDeps; actor: Actor; now_ms: number },
): RetryResult {
  const { deps, actor, now_ms } = options;
  const email = emailLife.find(tx, id);
  if (!email) return { id, refusal: 'there is no such email', code: 'not_found' };
  const refusal = refusalOf(tx, email, deps);
  if (refusal !== null) return refused(id, refusal);
  const place = takePlace(tx, email, options);
  if ('refusal' in place) return refused(id, place.refusal);
  keepFirstAttempt(tx, email);
  const job_id = deps.emails.reopen(tx, email, place, now_ms);
  const project = deps.projects.findById(email.project_id);
  const entry = {
    event: EMAIL_RETRIED,
    target: auditTargetOf(id),
    project: project && { id: email.project_id, public_id: project.public_id },
    metadata: { attempts: email.attempts, job_id },
  };
  recordAudit(tx, actor, entry, now_ms);
  return { id, job_id };
}

function refused(id: string, refusal: string): RetryResult {
  return { id, refusal, ...(refusal === OF_INACTIVE && { code: 'project_inactive' }) };
}

/** Why an email can't be queued again, whatever the mailboxes have room for; null where it can. */
export function refusalOf(
  tx: Tx,
  email: EmailRow,
  deps: Omit<RequeueDeps, 'database' | 'clock'>,
): string | null {
  const { status, project_id } = email;
  if (!['failed', 'bounced', 'unknown'].includes(status))
    return `it is ${status}; only failed, bounced and unknown emails can be tried again`;
  if (!deps.projects.isActive(project_id, tx)) return OF_INACTIVE;
  if (!deps.emails.hasContent(tx, email)) return 'its content is no longer kept';
  const attachments = email.attachments.map((attachment) => attachment.public_id);
  const found = deps.objects.findMany(tx, project_id, attachments);
  if (found.length < attachments.length) return 'an attachment has been deleted meanwhile';
  if (deps.listeners.decideSend(tx, email) === 'cancel')
    return 'its recipient is to get nothing more of its sequence or broadcast';
  return null;
}

/**
 * The place it has in its day's quota stays its own; on another day it needs a new one. Either way there must
 * be a mailbox that can send it now: what is queued all the same would fail within its three attempts.
 */
function takePlace(
  tx: Tx,
  email: EmailRow,
  { now_ms }: { now_ms: number },
): { mailbox_id: number; quota_day: string } | { refusal: string } {
  const day = utcDay(now_ms);
  const held_mailbox_id = email.quota_day === day ? email.mailbox_id : null;
  const choice = takeMailbox(tx, { ...wishesOf(email), day, now_ms, held_mailbox_id });
  return choice.ok ? { mailbox_id: choice.mailbox_id, quota_day: day } : { refusal: choice.explanation };
}
