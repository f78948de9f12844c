/** What is told of an email from outside, by another mail server or by an operator in its place, and what that changes. */
import { type EmailRow, findEmail, updateEmail } from '../emails/service.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { SOFT_BOUNCES_TO_HARD } from '../limits.ts';
import type { Tx } from '../platform/database/database.ts';
import { recipientsOf } from './attempts.ts';
import type { Listeners } from './listeners.ts';
import { insertReport, listOutcomesOf } from './store.ts';
import type { ReportKind } from './tables.ts';

export interface Evidence {
  /** The recipient whom it concerns; the mail's own unless given. */
  address?: string;
  smtp_code?: number | null;
  /** What was said, in whose words ever. */
  words: string;
}

/** What a report makes of a mail that some relay has taken, or may have. One that says less than is known changes no status. */
const WEIGHT: Partial<Record<EmailRow['status'], number>> = {
  failed: 0,
  sent: 1,
  delivered: 2,
  bounced: 3,
  complained: 5,
};

/**
 * Keeps a report and has it take effect: on the log where it concerns the mail's own recipient, and on all who listen.
 * The last of SOFT_BOUNCES_TO_HARD soft ones in a row is a hard one as well. False where it changes nothing: it was told
 * before, concerns nobody whom the mail was sent to, or the mail never left. Throws AppError `not_found`.
 */
export function report(
  tx: Tx,
  told: { email_id: string; kind: ReportKind; evidence: Evidence; at: number },
  listeners: Listeners,
): boolean {
  const email = findEmail(tx, told.email_id);
  if (!email) throw notFound('Email');
  const { kind, evidence, at } = told;
  const asked = (evidence.address ?? email.to_email).toLowerCase();
  const address = recipientsOf(email).find((recipient) => recipient.toLowerCase() === asked);
  if (address === undefined || email.attempts === 0 || WEIGHT[email.status] === undefined) return false;
  const { smtp_code = null, words } = evidence;
  const row = { email_id: email.id, kind, address, smtp_code, words, reported_at: at };
  if (!insertReport(tx, row)) return false;
  const is_own = address === email.to_email;
  if (is_own) updateEmail(tx, email.id, changesOf(email, { kind, smtp_code, words, at }));
  listeners.tell(tx, email, { kind, address, at, is_report_of_copy: !is_own });
  if (kind === 'soft_bounced' && isLastStraw(tx, email.project_id, address)) {
    const hard = { address, smtp_code, words: `${SOFT_BOUNCES_TO_HARD} mails in a row came back: ${words}` };
    report(tx, { email_id: email.id, kind: 'bounced', evidence: hard, at }, listeners);
  }
  return true;
}

/** Whether the last reports about an address, each of a mail of its own, are all of soft bounces. */
function isLastStraw(tx: Tx, project_id: number, address: string): boolean {
  const kinds = listOutcomesOf(tx, { project_id, address, limit: SOFT_BOUNCES_TO_HARD });
  return kinds.length === SOFT_BOUNCES_TO_HARD && kinds.every((kind) => kind === 'soft_bounced');
}

/** Throws AppError `invalid` or `conflict` where `report` would take nothing of what an operator says. */
export function refuseReport(email: EmailRow, address: string): void {
  const asked = address.toLowerCase();
  if (!recipientsOf(email).some((recipient) => recipient.toLowerCase() === asked))
    throw invalid({ recipient: ['is nobody whom this email was sent to'] });
  if (email.attempts === 0 || WEIGHT[email.status] === undefined)
    throw conflict(`Nothing was sent of this email yet: it is ${email.status}.`);
}

type Told = { kind: ReportKind; smtp_code: number | null; words: string; at: number };

function changesOf(email: EmailRow, { kind, smtp_code, words, at }: Told): Partial<EmailRow> {
  const known = email.status === 'bounced' && email.bounce_type === 'permanent' ? 4 : WEIGHT[email.status];
  const says = (weight: number): boolean => weight > (known ?? 0);
  if (kind === 'delivered')
    return { delivered_at: email.delivered_at ?? at, ...(says(2) ? { status: 'delivered' as const } : {}) };
  if (kind === 'complained')
    return {
      complained_at: email.complained_at ?? at,
      ...(says(5) ? { status: 'complained' as const } : {}),
    };
  const is_hard = kind === 'bounced';
  const bounced_at = email.bounced_at ?? at;
  if (!says(is_hard ? 4 : 3)) return { bounced_at };
  return {
    status: 'bounced',
    bounce_type: is_hard ? 'permanent' : 'transient',
    bounced_at,
    smtp_code,
    smtp_response: words,
    error: `It was returned: ${words}`,
  };
}
