/** What a mail server's refusal speaks of: of the recipient, of the mailbox that mail goes out from, or of the message. */

/**
 * `recipient`: no mail reaches this address. `mailbox`: how the mail was handed over (the log-in, the sender, the
 * reputation of the host), whoever it was to. `message`: anything else that was refused for good.
 */
export type RefusalSubject = 'recipient' | 'mailbox' | 'message';

export interface Refusal {
  smtp_code: number | null;
  /** RFC 3463, such as `5.1.1`; null where there is none. */
  enhanced_code: string | null;
  /** Whether it answers RCPT, or a report tells it of one recipient. */
  is_of_recipient: boolean;
}

/** Of 5.1.x (addresses) and 5.2.x (their mailboxes) these speak of the sender's address and of the message's size. */
const NOT_OF_RECIPIENT = ['5.1.7', '5.1.8', '5.2.3'];
/** RFC 5321 4.2.3: no such mailbox, not local, a name that is not allowed. */
const CODES_OF_RECIPIENT = [550, 551, 553];
/** RFC 4954: a log-in is required, or was refused; and RFC 5321's "transaction failed", with which relays refuse clients. */
const CODES_OF_MAILBOX = [530, 535, 554];

/** Null where the refusal is none for good: anything but a 5xx. */
export function subjectOf(refusal: Refusal): RefusalSubject | null {
  const { smtp_code, enhanced_code, is_of_recipient } = refusal;
  if (smtp_code === null || smtp_code < 500) return null;
  if (is_of_recipient) {
    const is_recipients =
      enhanced_code === null
        ? CODES_OF_RECIPIENT.includes(smtp_code)
        : /^5\.[12]\./.test(enhanced_code) && !NOT_OF_RECIPIENT.includes(enhanced_code);
    if (is_recipients) return 'recipient';
  }
  const is_mailboxs = enhanced_code?.startsWith('5.7.') || CODES_OF_MAILBOX.includes(smtp_code);
  return is_mailboxs ? 'mailbox' : 'message';
}

/** The enhanced code at the start of a reply (RFC 2034); some servers write a number sign before it or a colon behind. */
export function enhancedCodeOf(reply: string): string | null {
  return /^\d{3}[ -]#?(\d\.\d{1,3}\.\d{1,3})(?!\.?\d)/.exec(reply)?.[1] ?? null;
}

/**
 * Whether a report that says `failed` of a recipient says that no mail will reach it, by its Status (RFC 3464 2.3.4) and the
 * text of its Diagnostic-Code. 5.0.0 says nothing; a full mailbox (5.2.2) may pass, whoever names it.
 */
export function isHardBounce(status: string | null, diagnostic: string): boolean {
  const smtp_code = Number(/^\d{3}(?!\d)/.exec(diagnostic)?.[0] ?? Number.NaN);
  const bare_code = /^#?(\d\.\d{1,3}\.\d{1,3})(?!\S)/.exec(diagnostic)?.[1];
  const said = [status, enhancedCodeOf(diagnostic) ?? bare_code ?? null].filter(
    (code) => code !== null && code !== '5.0.0',
  );
  if (said.includes('5.2.2')) return false;
  const [enhanced_code = null] = said;
  if (enhanced_code === null && Number.isNaN(smtp_code)) return true;
  const code_class = enhanced_code === null ? smtp_code : Number(enhanced_code[0]) * 100;
  return subjectOf({ smtp_code: code_class, enhanced_code, is_of_recipient: true }) === 'recipient';
}
