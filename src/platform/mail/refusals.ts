/**
 * What a refusal is about: the recipient, the mailbox that the mail goes out from, or the message. It judges
 * SMTP replies and replies in reports, so that the same words never mean two things.
 */
import { speaksOfExpiry, speaksOfQuota, spokenOf } from './refusal-words.ts';

/**
 * `recipient`: no mail reaches this address. `full`: none does at present. `mailbox`: our side (log-in,
 * sender, host's reputation, how much is sent), whoever the mail is to. `message`: its size or form.
 */
export type RefusalSubject = 'recipient' | 'full' | 'mailbox' | 'message';

export interface Refusal {
  smtp_code: number | null;
  /** The reply with its codes, of one line or several. */
  reply: string;
  /** Whether it is about one recipient: at RCPT, in a report, or after the content of a mail to only one. */
  is_of_recipient: boolean;
}

/**
 * Of 5.1.x (addresses) and 5.2.x (their mailboxes) these speak of the sender. The last two are Exchange
 * Online's: more than one From address, and its daily limit of recipients.
 */
const OF_SENDER = ['5.1.7', '5.1.8', '5.1.20', '5.1.90'];
const FULL = '5.2.2';
/** RFC 3463: larger than one mailbox, or a server, takes; and 5.6.x, which speaks of the content's form. */
const OF_MESSAGE = /^5\.(?:2\.3|3\.4|6\.\d+)$/;
/** RFC 5321 4.2.3: no such mailbox, not local, a name that is not allowed. */
const CODES_OF_RECIPIENT = [550, 551, 553];
/** RFC 5321 4.2.3: more than may be stored, which without any more words is the message's size. */
const TOO_MUCH = 552;

/** Null for what is no refusal for good: anything but a 5xx, and one that speaks of a quota. */
export function subjectOf({ smtp_code, reply, is_of_recipient }: Refusal): RefusalSubject | null {
  if (smtp_code === null || smtp_code < 500 || isOfQuota(reply)) return null;
  return subjectOfCodes(smtp_code, enhancedCodeOf(reply), { words: reply, is_of_recipient });
}

function subjectOfCodes(
  smtp_code: number,
  enhanced_code: string | null,
  { words, is_of_recipient }: { words: string; is_of_recipient: boolean },
): RefusalSubject {
  if (enhanced_code !== null && OF_MESSAGE.test(enhanced_code)) return 'message';
  const own = is_of_recipient ? subjectAtRecipient(smtp_code, enhanced_code, words) : null;
  return own ?? (enhanced_code === null && smtp_code === TOO_MUCH ? 'message' : 'mailbox');
}

/** What a refusal says about its one recipient; null where it is about something else. */
function subjectAtRecipient(
  smtp_code: number,
  enhanced_code: string | null,
  words: string,
): 'recipient' | 'full' | null {
  if (enhanced_code === FULL) return 'full';
  if (enhanced_code === '5.1.0') return spokenOf(words) === 'sender' ? null : 'recipient';
  if (enhanced_code !== null)
    return /^5\.[12]\./.test(enhanced_code) && !OF_SENDER.includes(enhanced_code) ? 'recipient' : null;
  const spoken = spokenOf(words);
  if (spoken === 'full') return 'full';
  const is_recipients = spoken === 'recipient' || spoken === null;
  return is_recipients && CODES_OF_RECIPIENT.includes(smtp_code) ? 'recipient' : null;
}

/** Whether a refusal says that the mailbox has used up a day's or an hour's quota (5.4.5, RFC 3463). */
export function isOfQuota(reply: string): boolean {
  const code = enhancedCodeOf(reply);
  if (code !== null && (/^[45]\.[12]\./.test(code) || OF_MESSAGE.test(code))) return false;
  return code === '5.4.5' || speaksOfQuota(reply);
}

/**
 * The enhanced code at the start of a reply (RFC 2034). Some servers write a number sign before or a colon
 * behind it, and qmail puts it into brackets at the end.
 */
export function enhancedCodeOf(reply: string): string | null {
  const at_start = /^\d{3}[ -]#?(\d\.\d{1,3}\.\d{1,3})(?!\.?\d)/.exec(reply);
  return (at_start ?? /\(#(\d\.\d{1,3}\.\d{1,3})\b/.exec(reply))?.[1] ?? null;
}

/** What a report's `failed` means for the mail. `refused`: some server would not take it from us. */
export type ReportedEnd = 'bounced' | 'soft_bounced' | 'refused';

/** A Status that is more than a copy of a reply's first digit: it is about the sender, the size, or us. */
const TELLING_STATUS = /^5\.(?:7\.\d+|1\.[78]|2\.[23])$/;

/**
 * What `failed` means, by the report's Status (RFC 3464 2.3.4) and by `words`: its Diagnostic-Code, or what
 * its text tells, or empty. A reply in the words says more than the Status, which some servers make up.
 */
export function endOf(status: string | null, words: string): ReportedEnd {
  // 5.0.0 and 4.0.0 don't say why.
  const told = status === null || status.endsWith('.0.0') ? null : status;
  const code = /^[245]\d\d(?!\d)/.exec(words)?.[0] ?? null;
  const own = enhancedCodeOf(words) ?? /^#?(\d\.\d{1,3}\.\d{1,3})(?!\S)/.exec(words)?.[1] ?? null;
  const enhanced_code = own ?? (code === null || TELLING_STATUS.test(told ?? '') ? told : null);
  const spoken = spokenOf(words);
  const is_ours = /^[45]\.7\./.test(own ?? told ?? '') || spoken === 'sender' || spoken === 'us';
  const first = code ?? enhanced_code;
  if (first === null && spoken === 'recipient' && !status?.startsWith('4')) return 'bounced';
  if (!first?.startsWith('5')) return is_ours ? 'refused' : 'soft_bounced';
  const smtp_code = code === null ? 500 : Number(code);
  const subject = subjectOfCodes(smtp_code, enhanced_code, { words, is_of_recipient: true });
  if (subject === 'recipient') return 'bounced';
  if (subject === 'full' || speaksOfExpiry(words)) return 'soft_bounced';
  const is_refusal = code !== null || subject === 'message' || OF_SENDER.includes(enhanced_code ?? '');
  return is_refusal || is_ours ? 'refused' : 'soft_bounced';
}

/**
 * The last SMTP reply in a text, its lines joined, or null. One begins a line, or follows a colon as in
 * `said: 550 ...`, and ends with its paragraph.
 */
export function lastReplyIn(text: string): string | null {
  const found = [...text.matchAll(/(?:^[ \t]*|:[ \t]+|\n[ \t]*)([45]\d\d)([ -])(?=\S)/g)];
  const places = found.map((match) => ({
    code: match[1] ?? '',
    has_more: match[2] === '-',
    at: match.index + match[0].length - 4,
  }));
  let first = places.length - 1;
  const last = places[first];
  if (!last) return null;
  while (places[first - 1]?.has_more && places[first - 1]?.code === last.code) first -= 1;
  const [paragraph = ''] = text.slice(places[first]?.at ?? last.at).split(/\n[ \t]*\n/);
  return paragraph.replace(/\s+/g, ' ').trim();
}
