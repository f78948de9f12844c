/** Whom an email goes to. */
import type { EmailRow } from '../emails/service.ts';

/** Everybody who gets a copy, once: no mailbox in use tells addresses apart by their case. */
export function recipientsOf(email: Pick<EmailRow, 'to_email' | 'cc' | 'bcc'>): string[] {
  if (email.cc.length === 0 && email.bcc.length === 0) return [email.to_email];
  const by_address = new Map<string, string>();
  for (const address of [email.to_email, ...email.cc, ...email.bcc]) {
    const key = address.toLowerCase();
    if (!by_address.has(key)) by_address.set(key, address);
  }
  return [...by_address.values()];
}
