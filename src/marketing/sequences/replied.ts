/** What a reply to a mail of a sequence changes: its numbers, and the events of whoever it went to. */
import type { Answered } from '../../mail/replies/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import { findEnrollment, findMail, updateMail } from './enrollment-store.ts';
import type { ContactEvents } from './events.ts';

/** Only one of the address that the mail went to: anybody else may write too. */
export function noteReplyToSequence(
  tx: Tx,
  { answered, contact_events }: { answered: Answered; contact_events: ContactEvents },
): void {
  const { email, is_recipient, received_at: at } = answered;
  const mail = is_recipient && email.source === 'sequence' && findMail(tx, email.id);
  if (!mail) return;
  if (mail.replied_at === null) updateMail(tx, email.id, { replied_at: at });
  const contact_id = findEnrollment(tx, mail.enrollment_id)?.contact_id;
  if (contact_id !== undefined) contact_events.note(tx, { contact_id, event: 'replied', at });
}
