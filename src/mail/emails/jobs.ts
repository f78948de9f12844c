/** The jobs that are emails: which one sends an email, and what one tells of its email and its mailbox. */
import type { JobRow } from '../../platform/database/tables.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { laneOf as laneOfJob, type NewJob, PRIORITY } from '../../platform/jobs/store.ts';
import { isBulk } from './schemas.ts';
import type { EmailRow } from './tables.ts';

/** Contract: queued email is attempted three times. */
const EMAIL_MAX_ATTEMPTS = 3;

export const type = 'email.send';
const LEFT_ALONE = 'left-alone';

/** The job that sends an email. */
export function of(
  email: Pick<EmailRow, 'id' | 'project_id' | 'source' | 'scheduled_at'>,
  mailbox_id: number,
): NewJob {
  return {
    project_id: email.project_id,
    type,
    priority: PRIORITY[priorityNameOf(email)],
    resource: resourceOf(email, mailbox_id),
    payload: { email_id: email.id },
    max_attempts: EMAIL_MAX_ATTEMPTS,
  };
}

/** Left alone is what can only wait until its mailbox may be tried again. */
export function laneOf(
  email: Pick<EmailRow, 'source' | 'scheduled_at'>,
  mailbox_id: number,
  options = { is_left_alone: false },
): string {
  const resource = resourceOf(email, mailbox_id);
  return laneOfJob({ type, resource: options.is_left_alone ? `${LEFT_ALONE}:${resource}` : resource });
}

export function isLeftAlone(lane: string): boolean {
  return lane.startsWith(laneOfJob({ type, resource: LEFT_ALONE }));
}

/** The mailbox that a lane of emails belongs to. */
export function mailboxOf(lane: string): number {
  return Number(lane.slice(lane.lastIndexOf(':') + 1));
}

/** The id of the email that a job sends. */
export function emailOf({ payload }: JobRow): string {
  return isPlainObject(payload) && typeof payload.email_id === 'string' ? payload.email_id : '';
}

/**
 * The resource of an email's lane: its mailbox and its kind of mail. So a relay that hangs holds up only what
 * must go through it, and bulk mail does not hold up urgent mail.
 */
function resourceOf(email: Pick<EmailRow, 'source' | 'scheduled_at'>, mailbox_id: number): string {
  return `${priorityNameOf(email)}:${mailbox_id}`;
}

/** Transactional mail goes before scheduled, scheduled before marketing. */
function priorityNameOf(
  email: Pick<EmailRow, 'source' | 'scheduled_at'>,
): 'transactional' | 'scheduled' | 'marketing' {
  if (isBulk(email.source)) return 'marketing';
  return email.source === 'schedule' || email.scheduled_at !== null ? 'scheduled' : 'transactional';
}
