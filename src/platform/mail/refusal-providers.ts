/**
 * Refusals that a provider words or numbers in a way of its own, which says more than anything else in them.
 * This is the only list of them.
 *
 * Sources: Microsoft's "Email non-delivery reports in Exchange Online" (5.4.1 is a recipient whom
 * Directory-Based Edge Blocking does not know; 5.4.310), Yahoo's "SMTP error codes" (554 delivery error: dd),
 * Yandex' and the others' replies in ActiveCampaign's SMTP Field Manual (MIT), Postmastery's list of Orange's
 * SMTP error codes with those that the bounce parser Sisimai keeps of La Poste, GoDaddy's "Fix rejected email
 * with a bounce error".
 */
import type { RefusalSubject } from './refusals.ts';

const PROVIDERS: readonly { of: string; says: RegExp; about: RefusalSubject }[] = [
  {
    of: 'Exchange Online',
    says: /\b5\.4\.1\b[^;]{0,400}\bRecipient address rejected: Access denied\b|\b5\.4\.310\b/i,
    about: 'recipient',
  },
  { of: 'Yahoo', says: /\bdelivery error: dd\b/i, about: 'recipient' },
  { of: 'Yandex', says: /\bpolicy rejection on the target address\b/i, about: 'recipient' },
  { of: 'GoDaddy', says: /\bIB\d{3}\b/, about: 'mailbox' },
];

/** Orange (OFR_416, OFR006_102, OUK_513) and La Poste (LPN007_426, LPN416, LPNAAA_101), in any case. */
const FRENCH_CODE = /\b(?:OFR|OUK|LPN)(?:[A-Z]{3}|\d{3})?[-_]?(\d{3})\b/i;
/** All other codes are about us: our host, our sender, what we send. */
const FRENCH_CODES: Readonly<Record<string, RefusalSubject>> = {
  /** Invalid. */
  416: 'recipient',
  417: 'full',
  /** Archived. */
  420: 'recipient',
  /** Its account is blocked. */
  426: 'recipient',
  514: 'message',
};

/** What a refusal is about by the provider's own words; null where they are none of these. */
export function subjectByProvider(reply: string): RefusalSubject | null {
  const french = FRENCH_CODE.exec(reply)?.[1];
  if (french !== undefined) return FRENCH_CODES[french] ?? 'mailbox';
  return PROVIDERS.find(({ says }) => says.test(reply))?.about ?? null;
}
