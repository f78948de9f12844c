/**
 * What happened to an email and what comes next: one timeline, as events for whoever draws it and in plain
 * words.
 */
import type { AuditRow } from '../../platform/database/audit-trail.ts';
import type { JobRow } from '../../platform/database/tables.ts';
import { toIso } from '../../platform/host/clock.ts';
import { dateTime, named, nullable, oneOf, type Static, t } from '../../platform/http/schema.ts';
import { isHeldByRestore } from '../../platform/jobs/restore-hold.ts';
import { HELD, isHeld } from '../../platform/jobs/store.ts';
import type { EmailRow } from '../emails/service.ts';
import type { NotedReply } from '../replies/service.ts';
import { unansweredOf } from './patience.ts';
import { NO_MAILBOX } from './store.ts';
import type { AttemptRow, ReportRow } from './tables.ts';

const words = (description: string) => ({ ...nullable(t.String()), description });

export const emailEvent = named(
  'EmailEvent',
  t.Object({
    at: dateTime(),
    kind: oneOf(['accepted', 'attempt', 'queued_again', 'report', 'opened', 'clicked', 'reply']),
    outcome: words(
      'Of an attempt: `sent`, `captured`, `refused`, `deferred`, `unreachable`, `unanswered` (the relay may have taken it), ' +
        '`postponed` (it waits for an attachment or for room on the server), `interrupted`, null while it is under way; of a ' +
        'report: `delivered`, `bounced`, `soft_bounced`, `refused` (because of the mailbox it came from), `complained`, `unsubscribed`; of a ' +
        "reply: `automatic`, null for a person's.",
    ),
    who: words(
      'The key it was accepted with, the mailbox of an attempt, who queued it again, whom a report speaks of, who answered.',
    ),
    words: words('What the relay or the report said; the subject of a reply.'),
    tls: words('Of an attempt: the version, or `none`; null where no connection came about.'),
    note: words('Of an attempt: why this mailbox.'),
  }),
);
type EmailEvent = Static<typeof emailEvent>;

export interface EmailFacts {
  email: EmailRow;
  attempts: readonly AttemptRow[];
  /** What was told of it from outside, in the order in which it came. */
  reports: readonly ReportRow[];
  /** As the reports. Those of people are gone after a while; the log knows of the first. */
  replies: readonly NotedReply[];
  /** Events of operators who had it tried again, newest first. */
  retries: readonly AuditRow[];
  job: JobRow | null;
  /** Name of the key it was accepted with, where it still exists. */
  key: string | null;
  project: string | null;
  is_project_active: boolean;
  /** Why it waits where a restore holds it. */
  hold: string;
  /** Its content is still kept, or can be rendered again. */
  has_content: boolean;
  /** How long it is tried from its first attempt, where it has that instead of a number of attempts. */
  patience_ms: number | null;
  now_ms: number;
  /** What holds back all mail of its mailbox, and until when at least. */
  held: { until: number; words: string | null } | null;
}

/** An event with its place in the timeline, and its sentences. */
interface Moment extends Partial<Omit<EmailEvent, 'at' | 'kind'>> {
  kind: EmailEvent['kind'];
  at_ms: number;
  /** Where it stands among the others, if that is not when it was. */
  sort_ms?: number;
  told: string[];
}

const NOTHING = { outcome: null, who: null, words: null, tls: null, note: null };

/**
 * The events in the order of time, and its story: the same in one sentence a line, with how it stands and
 * what comes next.
 */
export function timelineOf(facts: EmailFacts): { events: EmailEvent[]; story: string[] } {
  const { email } = facts;
  const moments = momentsOf(facts);
  return {
    events: moments.map(({ at_ms, sort_ms: _place, told: _told, ...event }) => ({
      ...NOTHING,
      ...event,
      at: toIso(at_ms),
    })),
    story: [
      ...moments.flatMap(({ told }) => told),
      ...tellRecipients(email),
      tellState(facts),
      ...tellNext(facts),
    ],
  };
}

function momentsOf(facts: EmailFacts): Moment[] {
  const { email, reports, replies, key } = facts;
  const { created_at, scheduled_at, opened_at, clicked_at, replied_at } = email;
  const due = scheduled_at === null ? [] : [`It was to be sent at ${toIso(scheduled_at)}.`];
  const moments: Moment[] = [
    { kind: 'accepted', at_ms: created_at, who: key, told: [tellAcceptance(facts), ...due] },
    ...triesOf(facts),
    ...reports.map((report) => ({
      kind: 'report' as const,
      at_ms: report.reported_at,
      outcome: report.kind,
      who: report.address,
      words: report.words,
      told: [tellReport(report)],
    })),
  ];
  for (const { is_automatic, from_email, subject, received_at } of replies) {
    const outcome = is_automatic ? 'automatic' : null;
    const told = tellReply({ is_automatic, from_email, subject, received_at });
    moments.push({
      kind: 'reply',
      at_ms: received_at,
      outcome,
      who: from_email,
      words: subject,
      told: [told],
    });
  }
  if (replied_at !== null && replies.every(({ is_automatic }) => is_automatic))
    moments.push({ kind: 'reply', at_ms: replied_at, told: [`Answered ${toIso(replied_at)}.`] });
  if (opened_at !== null)
    moments.push({ kind: 'opened', at_ms: opened_at, told: [`Opened ${toIso(opened_at)}.`] });
  if (clicked_at !== null)
    moments.push({ kind: 'clicked', at_ms: clicked_at, told: [`A link was clicked ${toIso(clicked_at)}.`] });
  const placeOf = ({ at_ms, sort_ms = at_ms }: Moment): number => sort_ms;
  return moments.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** A retry stands before the first attempt that it led to, whatever the clocks of the two processes say. */
function triesOf({ email, attempts, retries }: EmailFacts): Moment[] {
  const queued = retries.toReversed().map((retry) => ({ retry, after: Number(retry.metadata.attempts) }));
  const between = (before: AttemptRow | undefined, next: AttemptRow | undefined): Moment[] =>
    queued
      .filter(({ after }) => after >= (before?.attempt ?? 0) && after < (next?.attempt ?? after + 1))
      .map(({ retry }) => ({
        kind: 'queued_again',
        at_ms: retry.at,
        sort_ms: Math.max(
          before?.started_at ?? email.created_at,
          Math.min(retry.at, next?.started_at ?? retry.at),
        ),
        who: retry.actor_name,
        told: [`Queued again ${toIso(retry.at)} by ${retry.actor_name} (${retry.actor_kind}).`],
      }));
  const tried = attempts.flatMap((attempt, index): Moment[] => [
    ...between(attempts[index - 1], attempt),
    {
      kind: 'attempt',
      at_ms: attempt.started_at,
      outcome: attempt.outcome,
      who: attempt.mailbox === NO_MAILBOX ? null : attempt.mailbox,
      words: attempt.smtp_response,
      tls: attempt.tls,
      note: attempt.choice,
      told: tellAttempt(attempt),
    },
  ]);
  return [...tried, ...between(attempts.at(-1), undefined)];
}

/* --- In words --------------------------------------------------------------------------------------------------- */

function tellAcceptance({ email, key, project }: EmailFacts): string {
  const origins = {
    api: 'by an API request',
    schedule: 'for a run of a schedule',
    sequence: 'for a step of a sequence',
    broadcast: 'for a broadcast',
    confirmation: 'to confirm a sign-up',
    test: 'as a test of a sequence step or of a broadcast',
    smtp: 'by SMTP',
    resend: "by Resend's API",
    mailgun: "by Mailgun's API",
    mailgun_bulk: "by Mailgun's API, as bulk mail",
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

function tellAttempt(attempt: AttemptRow): string[] {
  const which = `Attempt ${attempt.attempt}, ${toIso(attempt.started_at)},`;
  if (attempt.mailbox === NO_MAILBOX) return [`${which} had no mailbox to go out from: ${attempt.choice}`];
  const words = {
    sent: 'was taken',
    captured: 'was captured',
    refused: 'was refused',
    deferred: 'was deferred',
    unreachable: 'could not use its relay',
    unanswered: 'got no answer',
    postponed: 'was put off, and counts as none',
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

/** Nobody knows how far an attempt came that was cut off. */
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
    unsubscribed: 'was answered by an unsubscription at the relay',
  };
  return `Reported ${toIso(reported_at)}: for ${address} it ${told[kind]}: ${words}`;
}

function tellReply({ is_automatic, from_email, subject, received_at }: NotedReply): string {
  const at = toIso(received_at);
  return is_automatic
    ? `An automatic answer of ${from_email} came ${at}: ${subject}`
    : `Answered ${at} by ${from_email}: ${subject}`;
}

function tellState({ email }: EmailFacts): string {
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

function tellNext(facts: EmailFacts): string[] {
  const { email, attempts, job, has_content, patience_ms } = facts;
  const due_at = job?.status === 'pending' ? job.run_at : email.due_at;
  if (due_at !== null && isHeldByRestore(due_at)) return [`Next: nothing by itself, as ${facts.hold}`];
  if (due_at !== null && !facts.is_project_active)
    return [
      `Next: it waits until its project is active: satchel project change ${facts.project ?? 'PROJECT'} --status active`,
    ];
  if (due_at === Number.POSITIVE_INFINITY)
    return ['Next: it waits until marketing is enabled in the settings.'];
  if (job && due_at !== null && isHeld(due_at))
    return ['Next: it waits until its project, which moved, is let go: satchel project import --go PROJECT'];
  if (due_at === HELD) return [`Next: it waits until its ${email.source} is resumed.`];
  if (due_at !== null) {
    const when = tellWhen(due_at, facts);
    const first = attempts.find(({ started_at }) => started_at >= (email.queued_at ?? 0));
    if (!first) return [`Next: The first attempt comes ${when}.`];
    const unanswered = unansweredOf(attempts, email.queued_at);
    if (unanswered) {
      const which = unanswered.tries === 1 ? 'first of two' : 'last';
      return [`Next: another attempt comes ${when}, the ${which} since its relay may have taken it.`];
    }
    if (patience_ms !== null) {
      const until = toIso(first.started_at + patience_ms);
      return [`Next: another attempt comes ${when}; it is tried until ${until}.`];
    }
    const tries = job ? job.attempts - job.interruptions : 0;
    return tries > 0 && job
      ? [`Next: Attempt ${tries + 1} of ${job.max_attempts} comes ${when}.`]
      : [`Next: another attempt comes ${when}; none counts so far.`];
  }
  if (email.status === 'sending' || job?.status === 'processing') return ['Next: an attempt is under way.'];
  if (email.status === 'unknown' && has_content)
    return [
      `Next: nothing by itself; sent again, it may arrive twice. To try again: satchel email retry ${email.id}`,
    ];
  if (['failed', 'bounced', 'unknown'].includes(email.status)) {
    return [
      has_content
        ? `Next: nothing by itself. To try again: satchel email retry ${email.id}`
        : 'Next: nothing. Its content is no longer kept, so it cannot be tried again.',
    ];
  }
  if (email.status === 'suppressed') return ['Next: nothing, as its recipient was to get nothing more.'];
  return ['Next: nothing more.'];
}

/** Mail whose time has come may still wait for its mailbox. */
function tellWhen(due_at: number, { email, held, now_ms }: EmailFacts): string {
  if (held === null || held.until <= due_at)
    return due_at <= now_ms ? 'as soon as the server gets to it' : `at ${toIso(due_at)}`;
  const why =
    held.words === null
      ? `, when ${email.from_email} may send the next mail`
      : ` (${email.from_email} waits until then, as its relay said: ${held.words.replace(/\.$/, '')})`;
  return `at ${toIso(held.until)} at the earliest${why}`;
}
