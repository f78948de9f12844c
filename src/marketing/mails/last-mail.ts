/** The mails that somebody left after. */
import { BULK_SOURCES, sentMails } from '../../mail/emails/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import { readMerge } from './merging.ts';

/** Mails to an address that are looked through: those to its contacts on other lists are among them. */
const MAX_LOOKED_THROUGH = 100;

/** Ids of the last two mails that sequences and broadcasts sent to a contact, tests apart; the last one first. */
export function lastMailsTo(
  read: Tx,
  { id, project_id, email }: { id: number; project_id: number; email: string },
): string[] {
  const sent = sentMails.listSentTo(read, { project_id, email, sources: BULK_SOURCES }, MAX_LOOKED_THROUGH);
  const of_contact = sent.filter(({ merge }) => contactIn(merge) === id);
  return of_contact.slice(0, 2).map((mail) => mail.id);
}

/** The id of the contact that a mail is for; null where it is for nobody on a list. */
export function contactOfMail(read: Tx, email_id: string): number | null {
  return contactIn(sentMails.find(read, email_id)?.merge ?? null);
}

const contactIn = (merge: string | null): number | null =>
  merge === null ? null : readMerge(JSON.parse(merge)).c;
