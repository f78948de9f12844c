/**
 * Which reports of other mail servers are believed, and of which mail they speak: those that carry what only
 * that mail had.
 */

import type { Tx } from '../../platform/database/database.ts';
import { type FindDkimKey, findSignedHeader } from '../../platform/mail/dkim.ts';
import type { MailReport } from '../../platform/mail/mail-reports.ts';
import { rawTextOf, recipientFieldsOf, signersIn } from '../../platform/mail/raw-report.ts';
import { type EmailRow, emailLife } from '../emails/service.ts';
import { recipientsOf } from './beginning.ts';
import { type ReturnPaths, returnPathsIn } from './return-paths.ts';
import type { ReportKind } from './tables.ts';

/** A believed report's word about one recipient of its mail. It is final: a delay changes nothing. */
interface BelievedWord {
  address: string;
  kind: ReportKind;
  smtp_code: number | null;
  words: string;
}

export interface MatchingDeps {
  return_paths: Pick<ReturnPaths, 'emailOf'>;
  /** Our own public DKIM keys, those lately in use included. */
  findDkimKey: FindDkimKey;
}

/**
 * Whether a message may hold a report that is believed, from its raw bytes alone: reading its MIME may cost a
 * lot, and anybody can send one. A report that came to a return path of a single mail counts only if that is
 * one of ours; any other must contain one of ours or a signature in our name.
 */
export function mayBeBelieved(read: Tx, message: Uint8Array, deps: MatchingDeps): boolean {
  const { return_paths, findDkimKey } = deps;
  const isOurs = (address: string): boolean => return_paths.emailOf(read, address) !== null;
  const raw = rawTextOf(message);
  const own = returnPathsIn(recipientFieldsOf(raw));
  if (own.length > 0) return own.some(isOurs);
  return (
    returnPathsIn(raw).some(isOurs) ||
    signersIn(raw).some(({ domain, selector }) => findDkimKey(domain, selector) !== null)
  );
}

/**
 * The mail that a report is about, or null where the report is not believed. Anybody can write a report and
 * name a Message-ID; the return path of a mail, and our signature over its Message-ID, are known only to
 * those who got it.
 */
export function findReportedEmail(read: Tx, report: MailReport, deps: MatchingDeps): EmailRow | null {
  for (const address of report.addresses) {
    const id = deps.return_paths.emailOf(read, address);
    const email = id === null ? undefined : emailLife.find(read, id);
    if (email) return email;
  }
  const message_id = findSignedHeader('message-id', report.returned_headers, deps.findDkimKey)?.toLowerCase();
  const id = /^<([0-9a-z]{26})@/.exec(message_id ?? '')?.[1];
  const email = id === undefined ? undefined : emailLife.find(read, id.toUpperCase());
  return email && email.message_id.toLowerCase() === message_id ? email : null;
}

/** A report's words about the recipients that its mail went to. */
export function wordsAbout(email: EmailRow, report: MailReport): BelievedWord[] {
  const recipients = recipientsOf(email);
  return report.recipients.flatMap(({ addresses, kind, smtp_code, words }) => {
    const named = addresses.map((address) => address.toLowerCase());
    // A complaint often leaves out who complained; with one recipient it is that one.
    const [only] = recipients;
    const is_plain = kind === 'complained' && named.length === 0 && recipients.length === 1;
    const found = named.flatMap((name) => recipients.find((one) => one.toLowerCase() === name) ?? []);
    const address = is_plain ? only : found[0];
    return address === undefined || kind === null ? [] : [{ address, kind, smtp_code, words }];
  });
}
