/** Reads reports of other mail servers: delivery status (RFC 3464) and feedback (RFC 5965). */
import type { Attachment } from 'postal-mime';
import {
  MAX_REPORT_CANDIDATES,
  MAX_REPORT_DEPTH,
  MAX_REPORT_HEADER_BYTES,
  MAX_REPORT_TEXT_BYTES,
  MAX_SMTP_RESPONSE_CHARS,
} from '../../limits.ts';
import {
  ADDRESS,
  addressesIn,
  FEEDBACK_TYPE,
  HEADERS_OF_ADDRESSES,
  partsOfReport,
  RETURNED_TYPES,
  STATUS_TYPES,
} from './raw-report.ts';
import { endOf, lastReplyIn, type ReportedEnd } from './refusals.ts';

/** A report's fields are cut here: lines have 998 characters (RFC 5322 2.1.1), addresses far fewer. */
const MAX_REPORT_FIELD_CHARS = 2_000;
/** Recipients that one report is believed about; a mail of ours has at most 151. */
const MAX_REPORTED_RECIPIENTS = 200;

/** What a report says. Whether to believe it is decided by whoever reads it. */
export interface MailReport {
  recipients: ReportedRecipient[];
  /** Addresses that the mail or the report is from or to; one may be our address for a single mail. */
  addresses: string[];
  /** The header block of the returned mail, one character a byte with CRLF; empty where none is returned. */
  returned_headers: string;
}

interface ReportedRecipient {
  /** Addresses by which the report may mean our recipient, likeliest first. Complaints may have none. */
  addresses: string[];
  /** Null where nothing is final: a delay, or a relay that reports no further. */
  kind: 'delivered' | ReportedEnd | 'complained' | null;
  smtp_code: number | null;
  /** What was said, in the server's words. */
  words: string;
}

/** Feedback types (RFC 5965 7.3; `opt-out` of RFC 6449) by which the recipient wants no more of it. */
const COMPLAINTS = ['abuse', 'fraud', 'opt-out'];

/**
 * The report in a message; null for anything else, and for too many parts or headers or too much depth. Only
 * the first MAX_REPORT_BYTES are read. For a thread of its own (report-reader.ts), as strangers choose what
 * it costs.
 */
export async function readMailReport(message: Uint8Array): Promise<MailReport | null> {
  const bounded = partsOfReport(message);
  if (!bounded) return null;
  const { default: PostalMime } = await import('postal-mime');
  const email = await PostalMime.parse(bounded, {
    forceRfc822Attachments: true,
    maxHeadersSize: MAX_REPORT_HEADER_BYTES,
    maxNestingDepth: MAX_REPORT_DEPTH,
  }).catch(() => null);
  if (!email) return null;
  const textOf = (types: readonly string[]): string | null => {
    const part = email.attachments.find(({ mimeType }) => types.includes(mimeType.toLowerCase()));
    return part ? latin1Of(part) : null;
  };
  const status = textOf(STATUS_TYPES);
  const feedback = status === null ? textOf([FEEDBACK_TYPE]) : null;
  const blocks = parseBlocks(status ?? feedback ?? '');
  const outer = email.headers.filter(({ key }) => HEADERS_OF_ADDRESSES.includes(key));
  const plain = status === null && feedback === null ? readPlain(email.text ?? '') : [];
  // Anybody can write plain text: it counts by the address that it came to, and by nothing in it.
  if (plain.length > 0)
    return {
      recipients: plain.slice(0, MAX_REPORTED_RECIPIENTS),
      addresses: outer.flatMap(({ value }) => addressesIn(value)).slice(0, MAX_REPORT_CANDIDATES),
      returned_headers: '',
    };
  const recipients = status === null ? readFeedback(blocks) : readStatus(blocks, email.text ?? '');
  if (recipients.length === 0) return null;
  const returned_headers = headerBlockOf(textOf(RETURNED_TYPES) ?? '');
  const [about] = blocks;
  const places = [
    ...outer.map(({ value }) => value),
    about?.first('x-postfix-sender') ?? '',
    about?.first('original-mail-from') ?? '',
    /^return-path:(.*)/im.exec(returned_headers)?.[1] ?? '',
  ];
  const addresses = places.flatMap(addressesIn).slice(0, MAX_REPORT_CANDIDATES);
  return { recipients: recipients.slice(0, MAX_REPORTED_RECIPIENTS), addresses, returned_headers };
}

function latin1Of({ content }: Attachment): string {
  const bytes =
    typeof content === 'string' ? Buffer.from(content, 'latin1') : Buffer.from(new Uint8Array(content));
  return bytes.toString('latin1');
}

/** Up to the first empty line, with the line breaks that signatures are made over. */
function headerBlockOf(message: string): string {
  const lines = message.split(/\r?\n/);
  const end = lines.indexOf('');
  const headers = end === -1 ? lines : lines.slice(0, end);
  return headers
    .map((line) => `${line}\r\n`)
    .join('')
    .slice(0, MAX_REPORT_HEADER_BYTES);
}

/* --- The fields of a report ------------------------------------------------------------------------------------- */

class Fields {
  readonly #values = new Map<string, string[]>();

  constructor(lines: readonly string[]) {
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).trim().toLowerCase();
      if (colon <= 0) continue;
      const value = line.slice(colon + 1, colon + 1 + MAX_REPORT_FIELD_CHARS).trim();
      const known = this.#values.get(name);
      if (known) known.push(value);
      else this.#values.set(name, [value]);
    }
  }

  first(name: string): string | null {
    return this.#values.get(name)?.[0] ?? null;
  }

  all(name: string): string[] {
    return this.#values.get(name) ?? [];
  }
}

/** Groups of fields with empty lines between them, unfolded. */
function parseBlocks(text: string): Fields[] {
  return text
    .replace(/\r\n?/g, '\n')
    .split(/\n(?:[ \t]*\n)+/)
    .map((block) => block.replace(/\n[ \t]+/g, ' ').split('\n'))
    .map((lines) => new Fields(lines));
}

function readStatus(blocks: readonly Fields[], text: string): ReportedRecipient[] {
  const reporter = blocks.flatMap((block) => block.first('reporting-mta') ?? [])[0] ?? null;
  const from = reporter === null ? '' : ` (reported by ${reporter.replace(/^[^;]*;\s*/, '')})`;
  const told = blocks.flatMap((block) => {
    const action = block.first('action')?.toLowerCase().split(/\s/)[0];
    const original = addressOf(block.first('original-recipient'));
    const final = addressOf(block.first('final-recipient'));
    const addresses = [original, original === null ? null : decodeXtext(original), final].filter(
      (address) => address !== null,
    );
    return action === undefined || addresses.length === 0 ? [] : [{ block, action, addresses }];
  });
  const places = told.slice(0, MAX_REPORTED_RECIPIENTS);
  const sections = sectionsOf(
    text.slice(0, MAX_REPORT_TEXT_BYTES).replace(/\r\n?/g, '\n'),
    places.map(({ addresses }) => addresses),
  );
  return places.map(({ block, action, addresses }, index) => {
    const status = /\d\.\d{1,3}\.\d{1,3}/.exec(block.first('status') ?? '')?.[0] ?? null;
    const is_silent = status === null || status.endsWith('.0.0');
    const diagnostic = diagnosticOf(block);
    const is_in_text = diagnostic === '' && is_silent && action === 'failed';
    const said = is_in_text ? (sections[index] ?? '') : diagnostic;
    const words = plainWords(is_in_text ? wordsIn(said) : replyIn(said));
    const kind =
      action === 'delivered' ? 'delivered' : action === 'failed' ? endOf(status, words, said) : null;
    return {
      addresses,
      kind,
      smtp_code: codeOf(words),
      words: plainWords(`${words || `${action}, status ${status ?? 'unknown'}`}${from}`),
    };
  });
}

/** What a server said; in IronPort's reports it may stand in a field of its own. */
function diagnosticOf(block: Fields): string {
  const supplement = /\bsmtp;\s*(.*?)>?\s*$/is.exec(block.first('x-supplementary-info') ?? '')?.[1] ?? '';
  return /^[^;]*;\s*(.*)$/s.exec(block.first('diagnostic-code') ?? '')?.[1] ?? supplement;
}

/**
 * What a server's reply means that is in what a provider tells of a failure, with its code and words; null where none is in it.
 * `status` is what the provider says besides (RFC 3463).
 */
export function judgeReply(
  told: string,
  status: string | null,
): { kind: ReportedEnd; smtp_code: number | null; words: string } | null {
  const bounded = told.slice(0, MAX_REPORT_FIELD_CHARS);
  const said = /^\s*[\w-]{1,20}\s*;\s*(.*)$/s.exec(bounded)?.[1] ?? bounded.trim();
  const words = plainWords(replyIn(said));
  // The second figure of a reply is 0 to 5 (RFC 5321 4.2.1): a provider's own codes are none.
  if (!/^[45][0-5]\d(?!\d)/.test(words)) return null;
  return { kind: endOf(status, words, said), smtp_code: codeOf(words), words };
}

function replyIn(diagnostic: string): string {
  return /^[245]\d\d(?!\d)/.test(diagnostic) ? diagnostic : (lastReplyIn(diagnostic) ?? diagnostic);
}

function codeOf(words: string): number | null {
  return Number(/^[245]\d\d(?!\d)/.exec(words)?.[0] ?? 0) || null;
}

/** What a report's text says behind each recipient's address, up to the next one or to a rule of dashes. */
function sectionsOf(text: string, recipients: readonly (readonly string[])[]): string[] {
  const places = placesOfAddresses(text);
  const [first] = [...places.values()].filter(({ begins_line }) => begins_line);
  const starts = recipients.map((addresses) => {
    const named = addresses.flatMap((address) => places.get(address.toLowerCase()) ?? [])[0];
    // A single recipient is meant even under another address, to which the mail may have been forwarded.
    return named ?? (recipients.length === 1 ? first : undefined);
  });
  const begins = starts.flatMap((start) => start?.at ?? []).sort((a, b) => a - b);
  return starts.map((own) => {
    if (!own) return '';
    const next = begins.find((at) => at > own.at);
    const [section = ''] = text.slice(own.end, next).split(/^[ \t]*-{3}/m);
    return section;
  });
}

interface Place {
  at: number;
  end: number;
  begins_line: boolean;
}

/** Where each address stands in a text: where a line begins with it, else where it comes first. One pass. */
function placesOfAddresses(text: string): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const name = found.toLowerCase().replace(/\.$/, '');
    const known = places.get(name);
    if (known?.begins_line) continue;
    let before = index;
    while (' \t<'.includes(text[before - 1] ?? '\n')) before -= 1;
    const begins_line = before === 0 || text[before - 1] === '\n';
    if (known && !begins_line) continue;
    const end = index + found.length;
    places.set(name, { at: index, end: text[end] === '>' ? end + 1 : end, begins_line });
  }
  return places;
}

/** The last SMTP reply in a section, else the words right behind the address, as some servers write. */
function wordsIn(section: string): string {
  const [paragraph = ''] = section.replace(/^[ \t]*:?\s+/, '').split(/\n[ \t]*\n/);
  return lastReplyIn(section) ?? paragraph;
}

/** How qmail's reports begin, and those of programs that write as it does. */
const PLAIN_REPORT = /^\s*Hi\. This is the /;
/** Of a report that it is not over yet. */
const IS_WARNING = /\b(?:still|keep|continue|will be) (?:trying|retr)/i;

/** qmail's report in plain text: each paragraph behind `<address>:` is what was said of that recipient. */
function readPlain(text: string): ReportedRecipient[] {
  if (!PLAIN_REPORT.test(text)) return [];
  const bounded = text.slice(0, MAX_REPORT_TEXT_BYTES).replace(/\r\n?/g, '\n');
  const [told = ''] = bounded.split(/^--- ?/m);
  const paragraphs = told.split(/\n[ \t]*\n/);
  if (IS_WARNING.test(paragraphs[0] ?? '')) return [];
  return paragraphs.flatMap((paragraph) => {
    const [, address, said = ''] = /^\s*<([^<>\s]{1,64}@[^<>\s]{1,255})>:\s*(.*)$/s.exec(paragraph) ?? [];
    if (address === undefined) return [];
    const words = plainWords(lastReplyIn(said) ?? said);
    return [{ addresses: [address], kind: endOf(null, words, said), smtp_code: codeOf(words), words }];
  });
}

function readFeedback(blocks: readonly Fields[]): ReportedRecipient[] {
  const type = blocks[0]?.first('feedback-type')?.toLowerCase();
  if (!blocks[0] || type === undefined) return [];
  const kind = COMPLAINTS.includes(type) ? ('complained' as const) : null;
  const agent = blocks[0].first('reporting-mta') ?? blocks[0].first('user-agent');
  const from = agent === null ? '' : ` (reported by ${agent.replace(/^[^;]*;\s*/, '')})`;
  const words = plainWords(`feedback of type ${type}${from}`);
  const named = blocks[0].all('original-rcpt-to').flatMap((value) => addressOf(`rfc822;${value}`) ?? []);
  const told = named.length === 0 ? [[]] : named.map((address) => [address]);
  return told.map((addresses) => ({ addresses, kind, smtp_code: null, words }));
}

/** The address in `rfc822; ann@example.org`; null for one of another kind. */
function addressOf(value: string | null): string | null {
  const [, address = ''] = /^\s*(?:rfc822|utf-8)\s*;\s*<?([^<>\s]+)>?\s*$/i.exec(value ?? '') ?? [];
  return /.@./.test(address) ? address : null;
}

/** RFC 3461 4: `+2B` for a plus. Some servers decode it as they should, others do not. */
function decodeXtext(text: string): string {
  return text.replace(/\+([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** One line without control characters, cut as replies are. */
export function plainWords(text: string): string {
  const line = text
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  return line.length <= MAX_SMTP_RESPONSE_CHARS ? line : `${line.slice(0, MAX_SMTP_RESPONSE_CHARS)}...`;
}
