/** `satchel email why`: what happened to an email, and what comes next, in plain words. */

import type { AuditRow } from '../../platform/database/audit-trail.ts';
import type { JobRow } from '../../platform/database/tables.ts';
import { toIso } from '../../platform/host/clock.ts';
import { NEVER } from '../../platform/jobs/store.ts';
import type { EmailRow } from '../emails/service.ts';
import { type AttemptRow, NO_MAILBOX, type ReportRow } from './tables.ts';

export interface StoryFacts {
  email: EmailRow;
  attempts: readonly AttemptRow[];
  /** What was told of it from outside, in the order in which it came. */
  reports: readonly ReportRow[];
  /** Events of operators who had it tried again, newest first. */
  retries: readonly AuditRow[];
  job: JobRow | null;
  /** Name of the key it was accepted with, where it still exists. */
  key: string | null;
  project: string | null;
  /** Its content is still kept, or can be rendered again. */
  has_content: boolean;
  /** How long it is tried from its first attempt, where it has that instead of a number of attempts. */
  patience_ms: number | null;
}

/** One sentence a line, in the order of time. */
export function tellStory(facts: StoryFacts): string[] {
  const { email } = facts;
  return [
    tellAcceptance(facts),
    ...(email.scheduled_at === null ? [] : [`It was to be sent at ${toIso(email.scheduled_at)}.`]),
    ...tellAttempts(facts),
    ...tellRecipients(email),
    ...facts.reports.map(tellReport),
    tellState(facts),
    ...tellNext(facts),
  ];
}

function tellAcceptance({ email, key, project }: StoryFacts): string {
  const origins = {
    api: 'by an API request',
    schedule: 'for a run of a schedule',
    sequence: 'for a step of a sequence',
    confirmation: 'to confirm a sign-up',
    test: 'as a test of a sequence step',
  };
  const by_key =
    email.api_key_id === null
      ? ''
      : key === null
        ? ` with API key ${email.api_key_id}, which is gone`
        : ` with the API key ${key} (${email.api_key_id})`;
  const app = email.app_id === null ? '' : `, from the app ${email.app_id}`;
  const domain =
    email.requested_domain === null ? 'no domain was asked for' : `${email.requested_domain} was asked for`;
  const only =
    email.allowed_mailboxes.length === 0 ? '' : `, from ${email.allowed_mailboxes.join(' or ')} only`;
  const test = email.is_test ? ' It is a test: it is captured, not sent.' : '';
  const where = project === null ? '' : ` in project ${project}`;
  return `Accepted ${toIso(email.created_at)} ${origins[email.source]}${by_key}${where}${app}; ${domain}${only}.${test}`;
}

/** A retry stands before the first attempt that it led to, whatever the clocks of the two processes say. */
function tellAttempts({ attempts, retries }: StoryFacts): string[] {
  const told = retries.toReversed().map((retry) => ({
    after: Number(retry.metadata.attempts),
    line: `Queued again ${toIso(retry.at)} by ${retry.actor_name} (${retry.actor_kind}).`,
  }));
  const between = (from: number, to: number): string[] =>
    told.filter(({ after }) => after >= from && after < to).map(({ line }) => line);
  const lines = attempts.flatMap((attempt, index) => [
    ...between(attempts[index - 1]?.attempt ?? 0, attempt.attempt),
    ...tellAttempt(attempt),
  ]);
  return [...lines, ...between(attempts.at(-1)?.attempt ?? 0, Number.POSITIVE_INFINITY)];
}

function tellAttempt(attempt: AttemptRow): string[] {
  const which = `Attempt ${attempt.attempt}, ${toIso(attempt.started_at)},`;
  if (attempt.mailbox === NO_MAILBOX) return [`${which} had no mailbox to go out from: ${attempt.choice}`];
  const words = {
    sent: 'was taken',
    captured: 'was captured',
    refused: 'was refused',
    deferred: 'was deferred',
    unreachable: 'could not use its relay',
    interrupted: 'was cut off by a crash or a stop',
  };
  const is_judged = ['sent', 'refused', 'deferred'].includes(attempt.outcome ?? '');
  const how =
    !is_judged || attempt.tls === null
      ? ''
      : attempt.tls === 'none'
        ? ' without TLS'
        : ` over ${attempt.tls}`;
  const end =
    attempt.outcome === null
      ? 'is under way.'
      : `${words[attempt.outcome]}${how}${attempt.smtp_response ? `: ${attempt.smtp_response}` : tellDoubt(attempt)}`;
  return [`${which} from ${attempt.mailbox} ${end}`, `  Chosen: ${attempt.choice}`];
}

/** Of one that was cut off nobody knows how far it came. */
function tellDoubt({ outcome, may_be_sent }: AttemptRow): string {
  return outcome === 'interrupted' && may_be_sent ? ': its relay may have taken the message.' : '.';
}

function tellRecipients(email: EmailRow): string[] {
  const all = [email.to_email, ...email.cc, ...email.bcc];
  if (all.length === 1 || (email.taken.length === 0 && email.refused.length === 0)) return [];
  const refused = email.refused.map((recipient) => `${recipient.address} (${recipient.response})`);
  return [
    `Taken for: ${email.taken.join(', ') || 'nobody'}.`,
    ...(refused.length > 0 ? [`Refused for: ${refused.join(', ')}.`] : []),
  ];
}

function tellReport({ kind, address, words, reported_at }: ReportRow): string {
  const told = {
    delivered: 'was delivered',
    bounced: 'was returned for good',
    soft_bounced: 'was returned, for a reason that may pass',
    refused: 'was not taken because of the mailbox that it came from, which says nothing of the recipient',
    complained: 'was complained about',
  };
  return `Reported ${toIso(reported_at)}: for ${address} it ${told[kind]}: ${words}`;
}

function tellState({ email }: StoryFacts): string {
  const since =
    email.complained_at ??
    email.delivered_at ??
    email.bounced_at ??
    email.failed_at ??
    email.sent_at ??
    email.queued_at ??
    null;
  const reason = email.error === null ? '' : ` ${email.error.replace(/\.?$/, '.')}`;
  return `Its status is ${email.status}${since === null ? '' : ` since ${toIso(since)}`}.${reason}`;
}

function tellNext({ email, attempts, job, has_content, patience_ms }: StoryFacts): string[] {
  if (job?.status === 'pending') {
    const tries = job.attempts - job.interruptions;
    if (job.run_at === NEVER) return ['Next: it waits until its sequence is resumed.'];
    const when = job.run_at === 0 ? 'as soon as the server gets to it' : `at ${toIso(job.run_at)}`;
    const first = attempts.find(({ started_at }) => started_at >= (email.queued_at ?? 0));
    if (!first) return [`Next: The first attempt comes ${when}.`];
    if (patience_ms !== null) {
      const until = toIso(first.started_at + patience_ms);
      return [`Next: another attempt comes ${when}; it is tried until ${until}.`];
    }
    return tries > 0
      ? [`Next: Attempt ${tries + 1} of ${job.max_attempts} comes ${when}.`]
      : [
          `Next: another attempt comes ${when}; none counts so far, as the relay asked its mailbox for less mail.`,
        ];
  }
  if (job?.status === 'processing') return ['Next: an attempt is under way.'];
  if (email.status === 'failed' || email.status === 'bounced') {
    return [
      has_content
        ? `Next: nothing by itself. To try again: satchel email retry ${email.id}`
        : 'Next: nothing. Its content is no longer kept, so it cannot be tried again.',
    ];
  }
  if (email.status === 'suppressed') return ['Next: nothing, as its recipient was to get nothing more.'];
  return ['Next: nothing more.'];
}
