/** Reading the reports of other mail servers: delivery status notifications (RFC 3464) and feedback reports (RFC 5965). */
import type { Attachment } from 'postal-mime';
import {
  MAX_REPORT_CANDIDATES,
  MAX_REPORT_DEPTH,
  MAX_REPORT_FIELD_CHARS,
  MAX_REPORT_HEADER_BYTES,
  MAX_REPORTED_RECIPIENTS,
  MAX_SMTP_RESPONSE_CHARS,
} from '../../limits.ts';
import {
  addressesIn,
  FEEDBACK_TYPE,
  HEADERS_OF_ADDRESSES,
  partsOfReport,
  RETURNED_TYPES,
  STATUS_TYPES,
} from './raw-report.ts';
import { isHardBounce } from './refusals.ts';

/** What a report says, whoever wrote it. Whether to believe it, its reader decides. */
export interface MailReport {
  recipients: ReportedRecipient[];
  /** Where a report names whom its mail was from or itself is to: an address that we made for one mail may be among them. */
  addresses: string[];
  /** The header block of the mail that it returns, one character a byte with CRLF; empty where it returns none. */
  returned_headers: string;
}

export interface ReportedRecipient {
  /** How the report may name a recipient of ours: the likeliest first. Empty where a complaint names nobody. */
  addresses: string[];
  /** Null for what is no end: a delay, a relay that tells no more. */
  kind: 'delivered' | 'bounced' | 'soft_bounced' | 'complained' | null;
  smtp_code: number | null;
  /** What was said, in the server's words. */
  words: string;
}

/** Feedback types (RFC 5965 7.3, and `opt-out` of RFC 6449) that say that the recipient wants no more of it. */
const COMPLAINTS = ['abuse', 'fraud', 'opt-out'];

/**
 * The report in a message, or null where there is none: garbage is no report, nor is what has more parts, depth or headers
 * than any. Only the first MAX_REPORT_BYTES are read. For a thread of its own (report-reader.ts), as strangers choose what
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
  const recipients = status === null ? readFeedback(blocks) : readStatus(blocks);
  if (recipients.length === 0) return null;
  const returned_headers = headerBlockOf(textOf(RETURNED_TYPES) ?? '');
  const outer = email.headers.filter(({ key }) => HEADERS_OF_ADDRESSES.includes(key));
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

function readStatus(blocks: readonly Fields[]): ReportedRecipient[] {
  const reporter = blocks.flatMap((block) => block.first('reporting-mta') ?? [])[0] ?? null;
  return blocks.flatMap((block) => {
    const action = block.first('action')?.toLowerCase().split(/\s/)[0];
    if (action === undefined) return [];
    const original = addressOf(block.first('original-recipient'));
    const final = addressOf(block.first('final-recipient'));
    const addresses = [original, original === null ? null : decodeXtext(original), final].filter(
      (address) => address !== null,
    );
    if (addresses.length === 0) return [];
    const diagnostic = /^[^;]*;\s*(.*)$/s.exec(block.first('diagnostic-code') ?? '')?.[1] ?? '';
    const status = /\d\.\d{1,3}\.\d{1,3}/.exec(block.first('status') ?? '')?.[0] ?? null;
    const smtp_code = Number(/^[245]\d\d(?!\d)/.exec(diagnostic)?.[0] ?? 0) || null;
    const said = diagnostic === '' ? `${action}, status ${status ?? 'unknown'}` : diagnostic;
    const from = reporter === null ? '' : ` (reported by ${reporter.replace(/^[^;]*;\s*/, '')})`;
    return {
      addresses,
      kind: kindOf(action, status, diagnostic),
      smtp_code,
      words: plainWords(`${said}${from}`),
    };
  });
}

function kindOf(action: string, status: string | null, diagnostic: string): ReportedRecipient['kind'] {
  if (action === 'delivered') return 'delivered';
  if (action !== 'failed') return null;
  return isHardBounce(status, diagnostic) ? 'bounced' : 'soft_bounced';
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
function plainWords(text: string): string {
  const line = text
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
  return line.length <= MAX_SMTP_RESPONSE_CHARS ? line : `${line.slice(0, MAX_SMTP_RESPONSE_CHARS)}...`;
}
