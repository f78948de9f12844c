/** What a reply to a broadcast changes: its numbers, and the events of whoever it went to. */
import type { Answered } from '../../mail/replies/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { Contacts } from '../contacts/service.ts';
import { findByEmail, updateRecipient } from './recipient-store.ts';

/** Only one of the address that the mail went to: anybody else may write too. */
export function noteReplyToBroadcast(
  tx: Tx,
  of: {
    answered: Answered;
    contacts: Contacts;
    contact_events: { note(tx: Tx, told: { contact_id: number; event: 'replied'; at: number }): void };
  },
): void {
  const { email, is_recipient, received_at: at } = of.answered;
  const recipient = is_recipient && email.source === 'broadcast' && findByEmail(tx, email.id);
  if (!recipient) return;
  const { contact_id } = recipient;
  if (recipient.replied_at === null) updateRecipient(tx, recipient, { replied_at: at });
  // A turn outlives its contact.
  if (of.contacts.findById(contact_id, tx)) of.contact_events.note(tx, { contact_id, event: 'replied', at });
}
