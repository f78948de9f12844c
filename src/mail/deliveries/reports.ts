/**
 * What is told of an email from outside, by another mail server or by an operator in its place, and what that
 * changes.
 */

import { conflict, invalid, notFound } from '../../errors.ts';
import { DOCTOR_FAILURES_MS, REFUSALS_TO_PAUSE, SOFT_BOUNCE_DAYS_TO_HARD } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { type Clock, DAY_MS, toIso } from '../../platform/host/clock.ts';
import { aside, type HealthCheck, ok, problem, warning } from '../../platform/host/health-check.ts';
import { type EmailRow, emailLife, sentMails } from '../emails/service.ts';
import { keepFirstAttempt, recipientsOf } from './beginning.ts';
import type { Listeners } from './listeners.ts';
import type { Deliveries } from './service.ts';
import { insertReport, listReports, listReportsOf } from './store.ts';
import type { ReportKind } from './tables.ts';
import { isOfOurs } from './verdict.ts';

export interface Evidence {
  /** The recipient whom it concerns; the mail's own unless given. */
  address?: string;
  smtp_code?: number | null;
  /** What was said, in the words of whoever said it. */
  words: string;
}

/**
 * Keeps a report. It changes the log where it is about the mail's own recipient, and all who listen are
 * told. A soft bounce on the last of SOFT_BOUNCE_DAYS_TO_HARD days, with no sign of life between them, is a
 * hard one as well. `refused` and `unsubscribed` change no log. False where nothing changes: the report came before, is about
 * nobody whom the mail was sent to, or the mail never left. Throws AppError `not_found`.
 */
export function report(
  tx: Tx,
  told: { email_id: string; kind: ReportKind; evidence: Evidence; at: number; is_captured?: boolean },
  listeners: Listeners,
): boolean {
  const email = emailLife.find(tx, told.email_id);
  if (!email) throw notFound('Email');
  const { kind, evidence, at } = told;
  const asked = (evidence.address ?? email.to_email).toLowerCase();
  const address = recipientsOf(email).find((recipient) => recipient.toLowerCase() === asked);
  if (address === undefined || !emailLife.hasLeft(email)) return false;
  const { smtp_code = null, words } = evidence;
  const { id: email_id, from_email: mailbox } = email;
  const row = { email_id, kind, address, smtp_code, words, reported_at: at, mailbox };
  if (!insertReport(tx, row)) return false;
  const is_own = address === email.to_email;
  // A refusal because of us says nothing of the recipient, and the relay has taken the mail.
  if (is_own && kind !== 'refused' && kind !== 'unsubscribed') {
    // Its words take the place of what the relay answered.
    if (kind === 'bounced' || kind === 'soft_bounced') keepFirstAttempt(tx, email);
    emailLife.report(tx, email, { kind, smtp_code, words, at });
  }
  const is_captured = told.is_captured ?? (email.is_test || email.is_captured);
  listeners.tell(tx, email, { kind, address, at, is_report_of_copy: !is_own, is_captured });
  if (kind === 'soft_bounced' && countSoftDays(tx, email.project_id, address) >= SOFT_BOUNCE_DAYS_TO_HARD) {
    const days = `on ${SOFT_BOUNCE_DAYS_TO_HARD} days without a delivery, an open or a click between`;
    const hard = { address, smtp_code, words: `mails came back ${days}: ${words}` };
    report(tx, { email_id, kind: 'bounced', evidence: hard, is_captured, at }, listeners);
  }
  return true;
}

/**
 * On how many UTC days a project's mails to an address came back soft, since one was delivered, opened or
 * clicked, or a hard bounce was made of them.
 */
function countSoftDays(read: Tx, project_id: number, address: string): number {
  const told = listReportsOf(read, address).filter(
    ({ email_id }) => emailLife.find(read, email_id)?.project_id === project_id,
  );
  const ends = told.filter(({ kind }) => kind === 'delivered' || kind === 'bounced');
  const since = Math.max(
    sentMails.lastReadAt(read, project_id, address),
    ...ends.map(({ reported_at }) => reported_at),
  );
  const soft = told.filter(({ kind, reported_at }) => kind === 'soft_bounced' && reported_at > since);
  return new Set(soft.map(({ reported_at }) => Math.floor(reported_at / DAY_MS))).size;
}

/** What a mail server said last of a mail that it refused because of us; null where none did. */
export function wordsOfRefusal(read: Tx, email_id: string): string | null {
  const reported = listReports(read, email_id).findLast(({ kind }) => kind === 'refused');
  return reported?.words ?? emailLife.find(read, email_id)?.refused.findLast(isOfOurs)?.response ?? null;
}

/** Throws AppError `invalid` or `conflict` where `report` would take nothing of what an operator says. */
export function refuseReport(email: EmailRow, address: string): void {
  const asked = address.toLowerCase();
  if (!recipientsOf(email).some((recipient) => recipient.toLowerCase() === asked))
    throw invalid({ recipient: ['is nobody whom this email was sent to'] });
  if (!emailLife.hasLeft(email)) throw conflict(`Nothing was sent of this email yet: it is ${email.status}.`);
}

const CHECK = 'refusals in reports';

export function deliveryChecks({
  deliveries,
  clock,
}: {
  deliveries: Deliveries;
  clock: Clock;
}): HealthCheck[] {
  return [
    {
      check: CHECK,
      run() {
        const refused = deliveries.listRefusedSince(clock.now() - DOCTOR_FAILURES_MS);
        if (refused.length === 0) return [ok(CHECK, 'In the last 24 hours no report told of any.')];
        return refused.map(({ mailbox, n, words, last_at, email_id }) => {
          // A single one may be of one recipient's server.
          const tell = n < REFUSALS_TO_PAUSE ? warning : problem;
          const message = `relay refuses us: ${n} of the mails from ${mailbox} came back so in the last 24 hours, the last one at ${toIso(last_at)}: ${words}`;
          return aside(mailbox, tell(CHECK, message, `satchel email why ${email_id}`));
        });
      },
    },
  ];
}
