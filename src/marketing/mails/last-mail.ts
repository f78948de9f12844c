/** The mail that somebody left after. */
import { BULK_SOURCES, sentMails } from '../../mail/emails/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import { readMerge } from './merging.ts';

/** Mails to an address that are looked through: those to its contacts on other lists are among them. */
const MAX_LOOKED_THROUGH = 100;

/** The last mail that a sequence or broadcast sent to a contact, tests apart; null where there is none. */
export function lastMailTo(
  read: Tx,
  { id, project_id, email }: { id: number; project_id: number; email: string },
): string | null {
  const sent = sentMails.listSentTo(read, { project_id, email, sources: BULK_SOURCES }, MAX_LOOKED_THROUGH);
  const last = sent.find(({ merge }) => merge !== null && readMerge(JSON.parse(merge)).c === id);
  return last?.id ?? null;
}
