/**
 * What a refusal is about: the recipient, the mailbox that the mail goes out from, or the message. It judges
 * SMTP replies and replies in reports, so that the same words never mean two things.
 */
import { speaksOfExpiry, speaksOfNetwork, speaksOfQuota, spokenOf } from './refusal-words.ts';

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
  /** It came after the content. */
  is_after_data: boolean;
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
export function subjectOf({ smtp_code, reply, ...where }: Refusal): RefusalSubject | null {
  if (smtp_code === null || smtp_code < 500 || isOfQuota(reply)) return null;
  return subjectOfReply(smtp_code, enhancedCodeOf(reply), { words: reply, ...where });
}

/** Words come before codes, as servers give codes that say something else. */
function subjectOfReply(
  smtp_code: number,
  enhanced_code: string | null,
  told: { words: string } & Pick<Refusal, 'is_of_recipient' | 'is_after_data'>,
): RefusalSubject {
  if (enhanced_code !== null && OF_MESSAGE.test(enhanced_code)) return 'message';
  const subject = subjectByProvider(told.words) ?? subjectByWords(told.words);
  const found = subject ?? subjectByCodes(smtp_code, enhanced_code, told.is_after_data);
  const is_of_other = found === 'recipient' || found === 'full';
  return is_of_other && !told.is_of_recipient ? 'mailbox' : found;
}

function subjectByWords(words: string): RefusalSubject | null {
  const spoken = spokenOf(words);
  if (spoken === 'sender' || spoken === 'us') return 'mailbox';
  return spoken === 'unavailable' ? 'recipient' : spoken;
}

/** What a reply means whose words say nothing. */
function subjectByCodes(
  smtp_code: number,
  enhanced_code: string | null,
  is_after_data: boolean,
): RefusalSubject {
  if (enhanced_code === FULL) return 'full';
  if (enhanced_code !== null)
    return /^5\.[12]\./.test(enhanced_code) && !OF_SENDER.includes(enhanced_code) ? 'recipient' : 'mailbox';
  if (smtp_code === TOO_MUCH) return 'message';
  return !is_after_data && CODES_OF_RECIPIENT.includes(smtp_code) ? 'recipient' : 'mailbox';
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
 * `said` is all that the words were found in, which often tells what was replied to.
 */
export function endOf(status: string | null, words: string, said = words): ReportedEnd {
  // 5.0.0 and 4.0.0 don't say why.
  const told = status === null || status.endsWith('.0.0') ? null : status;
  const code = /^[245]\d\d(?!\d)/.exec(words)?.[0] ?? null;
  const own = enhancedCodeOf(words) ?? /^#?(\d\.\d{1,3}\.\d{1,3})(?!\S)/.exec(words)?.[1] ?? null;
  const enhanced_code = own ?? (code === null || TELLING_STATUS.test(told ?? '') ? told : null);
  const first = code ?? enhanced_code;
  const is_of_quota = isOfQuota(words);
  const spoken = is_of_quota ? 'mailbox' : (subjectByProvider(words) ?? subjectByWords(words));
  const is_passing = code === null && (speaksOfExpiry(words) || speaksOfNetwork(words));
  const is_told_ours = spoken === null && /^[45]\.7\./.test(own ?? told ?? '');
  const is_ours = !is_passing && (spoken === 'mailbox' || is_told_ours);
  const is_of_recipient = !BEFORE_RCPT.test(said);
  if (first === null && spoken === 'recipient' && is_of_recipient && !status?.startsWith('4'))
    return 'bounced';
  if (!first?.startsWith('5')) return is_ours ? 'refused' : 'soft_bounced';
  const smtp_code = code === null ? 500 : Number(code);
  const where = { is_of_recipient, is_after_data: AFTER_DATA.test(said) };
  const subject = is_of_quota ? 'mailbox' : subjectOfReply(smtp_code, enhanced_code, { words, ...where });
  if (subject === 'recipient') return 'bounced';
  if (subject === 'full' || speaksOfExpiry(words)) return 'soft_bounced';
  const is_refusal = code !== null || subject === 'message' || OF_SENDER.includes(enhanced_code ?? '');
  return is_refusal || is_ours ? 'refused' : 'soft_bounced';
}

/** As Postfix, Exim and qmail say that a reply was to no recipient, or that it came after the content. */
const BEFORE_RCPT =
  /\b(?:after|in reply to)(?: pipelined)? (?:MAIL FROM|EHLO|HELO|STARTTLS|initial connection)\b|\brefused to talk to me\b|\bbut (?:greeting failed|my name was rejected|sender was rejected)\b/i;
const AFTER_DATA = /\bend of data\b|\bfailed after I sent the message\b/i;

/**
 * The last SMTP reply in a text, its lines joined, or null. One begins a line, or follows a colon as in
 * `said: 550 ...`, a command, or `returned`, and ends with its paragraph. IronPort's stands in quotation marks.
 */
export function lastReplyIn(text: string): string | null {
  return replyOfIronPort(text) ?? lastQuotedIn(text);
}

/** `5.1.0 - Unknown address error 550-'5.7.1 blocked' (delivery attempts: 0)`: before the reply it guesses. */
function replyOfIronPort(text: string): string | null {
  const [, code, reply = ''] =
    /^\d\.\d\.\d - [^'\n]{0,100}?(?:(\d{3})-)?'([^\n]+)'(?: \(delivery attempts: \d+\))?\s*$/.exec(text) ??
    [];
  return reply === '' ? null : `${code === undefined ? '' : `${code} `}${reply}`;
}

function lastQuotedIn(text: string): string | null {
  const found = [
    ...text.matchAll(
      /(?:^[ \t]*|:[ \t]+\[?|\n[ \t]*|\b(?:RCPT TO|DATA):|\breturned ['"])([45]\d\d)([ -])(?=\S)/g,
    ),
  ];
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
  // qmail goes on in words of its own.
  return paragraph
    .replace(/\s+/g, ' ')
    .replace(/ Giving up on \S{1,255}\s*$/, '')
    .trim();
}

/* --- By provider -------------------------------------------------------------------------------------------------- */

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
function subjectByProvider(reply: string): RefusalSubject | null {
  const french = FRENCH_CODE.exec(reply)?.[1];
  if (french !== undefined) return FRENCH_CODES[french] ?? 'mailbox';
  return PROVIDERS.find(({ says }) => says.test(reply))?.about ?? null;
}
