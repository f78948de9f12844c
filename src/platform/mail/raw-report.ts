/**
 * What a message's raw bytes tell before its MIME is read: which address it came to, whose signatures it has,
 * and which parts may hold a report. Strangers write these, so each takes one pass.
 */
import {
  MAX_REPORT_BYTES,
  MAX_REPORT_CANDIDATES,
  MAX_REPORT_HEADER_BYTES,
  MAX_REPORT_PARTS,
  MAX_REPORT_TEXT_BYTES,
} from '../../limits.ts';

/** Where servers put the address that a report came to. */
export const HEADERS_OF_ADDRESSES = ['to', 'delivered-to', 'x-original-to', 'envelope-to', 'x-envelope-to'];
export const RETURNED_TYPES = [
  'message/rfc822',
  'message/global',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global-headers',
];

const IS_OF_ADDRESS = new RegExp(`^(?:${HEADERS_OF_ADDRESSES.join('|')})[ \\t]*:`, 'i');

export const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status'];
export const FEEDBACK_TYPE = 'message/feedback-report';
const FIELDS_TYPES = [...STATUS_TYPES, FEEDBACK_TYPE];

/** Of a mail that is returned in base64, this much holds its headers. */
const MAX_ENCODED_BYTES = MAX_REPORT_HEADER_BYTES;

/** Bounded by the longest address, so that the expression takes linear time. */
export const ADDRESS = /[^\s<>,;:"()@]{1,64}@[^\s<>,;:"()@]{1,255}/g;
/** A signature names its domain and selector within this many characters; the rest of it is not read. */
const SIGNER_CHARS = 2_000;

/** A message as text, one character a byte: as much of it as is read, and behind it what of it is in base64. */
export function rawTextOf(message: Uint8Array): string {
  const raw = Buffer.from(message.subarray(0, MAX_REPORT_BYTES)).toString('latin1');
  const encoded = raw.matchAll(/^content-transfer-encoding[ \t]*:[ \t]*base64[ \t]*\r?$/gim);
  const decoded = [...encoded.take(MAX_REPORT_CANDIDATES)].map(({ index }) => {
    const blank = /\n\r?\n/g;
    blank.lastIndex = index;
    const start = blank.exec(raw)?.index ?? raw.length;
    const [lines = ''] = /^[a-z\d+/=\s]*/i.exec(raw.slice(start, start + MAX_ENCODED_BYTES)) ?? [];
    return Buffer.from(lines, 'base64').toString('latin1');
  });
  return [raw, ...decoded].join('\n');
}

/** The fields of a message, one character a byte; null where they go on past MAX_REPORT_HEADER_BYTES. */
export function headerSectionOf(message: Uint8Array): string | null {
  const head = Buffer.from(message.subarray(0, MAX_REPORT_HEADER_BYTES)).toString('latin1');
  const end = /\r?\n\r?\n/.exec(head)?.index;
  return end === undefined && message.length > MAX_REPORT_HEADER_BYTES ? null : head.slice(0, end);
}

/** Whether a message has more parts than MAX_REPORT_PARTS, by the boundaries that it names. */
export function hasTooManyParts(message: Uint8Array): boolean {
  const raw = Buffer.from(message).toString('latin1');
  const named = raw.matchAll(/\bboundary[ \t]*=[ \t]*"?([^";\r\n]{1,200})/gi).take(MAX_REPORT_PARTS + 1);
  const boundaries = new Set([...named].map(([, name = '']) => name.trim()));
  if (boundaries.size > MAX_REPORT_PARTS) return true;
  let parts = 0;
  for (const [, line = ''] of raw.matchAll(/^--([^\r\n]{1,202})/gm)) {
    const name = line.trimEnd();
    if (boundaries.has(name) || boundaries.has(name.replace(/--$/, ''))) parts += 1;
    if (parts > MAX_REPORT_PARTS) return true;
  }
  return false;
}

/** The fields of a message that say to which address it came. */
export function recipientFieldsOf(raw: string): string {
  const head = raw.slice(0, MAX_REPORT_HEADER_BYTES);
  const end = /\n\r?\n/.exec(head)?.index ?? head.length;
  const fields = head.slice(0, end).split(/\r?\n(?![ \t])/);
  return fields.filter((field) => IS_OF_ADDRESS.test(field)).join('\n');
}

/** The first addresses of a text. */
export function addressesIn(text: string): string[] {
  return [...text.matchAll(ADDRESS).take(MAX_REPORT_CANDIDATES)].map(([address]) => address);
}

/** Whose DKIM signatures (d= and s=) begin any line of a message, quoted-printable or not. */
export function signersIn(raw: string): { domain: string; selector: string }[] {
  return [...raw.matchAll(/^dkim-signature[ \t]*:/gim).take(MAX_REPORT_CANDIDATES)].map(
    ({ index, 0: name }) => {
      const start = index + name.length;
      const [value = ''] = raw
        .slice(start, start + SIGNER_CHARS)
        .replace(/=\r?\n(?![ \t])/g, '')
        .replace(/=3D/g, '=')
        .split(/\r?\n(?![ \t])/);
      const tag = (letter: string): string =>
        new RegExp(`(?:^|;)\\s*${letter}\\s*=\\s*([^\\s;]+)`).exec(value)?.[1] ?? '';
      return { domain: tag('d').toLowerCase(), selector: tag('s') };
    },
  );
}

/**
 * The beginning of a message without the parts that no report is read from: returned mails' contents,
 * attachments, long text for people. MIME parsers take minutes for forms of each, and a thread inside a
 * regular expression can't be ended. Each line that is left and may begin a part begins one of the message's
 * own. Null beyond MAX_REPORT_PARTS or MAX_REPORT_HEADER_BYTES, as no report is.
 */
export function partsOfReport(message: Uint8Array): Uint8Array | null {
  const bytes = Buffer.from(message.subarray(0, MAX_REPORT_BYTES));
  const scan = new Scan(bytes);
  const kept: Buffer[] = [];
  let kept_from = 0;
  for (let start = 0, next = 0; start < bytes.length; start = next) {
    const newline = bytes.indexOf(LF, start);
    next = newline === -1 ? bytes.length : newline + 1;
    const is_kept = scan.keeps(start, next);
    if (scan.isTooMuch()) return null;
    if (is_kept) continue;
    if (kept_from < start) kept.push(bytes.subarray(kept_from, start));
    kept_from = next;
  }
  return Buffer.concat([...kept, bytes.subarray(kept_from)]);
}

const [LF, CR, HYPHEN] = [0x0a, 0x0d, 0x2d];

/** Keeps track of the place in a message, line by line. Any line that may begin a part counts as one. */
class Scan {
  readonly #delimiters = new Set<string>();
  #state: 'header' | 'returned header' | Content = 'header';
  #parts = 0;
  #header_start = 0;
  /** Counted over the message and its parts, and from 0 again in a mail that is returned. */
  #header_bytes = 0;
  #text_bytes = 0;
  #encoded_bytes = 0;

  constructor(private readonly bytes: Buffer) {}

  isTooMuch(): boolean {
    return this.#parts > MAX_REPORT_PARTS || this.#header_bytes > MAX_REPORT_HEADER_BYTES;
  }

  /** Whether the next line, from one place to before another, may belong to a report. */
  keeps(start: number, next: number): boolean {
    if (this.#isDelimiter(start, next)) {
      this.#parts += 1;
      [this.#state, this.#header_start] = ['header', next];
      return true;
    }
    switch (this.#state) {
      case 'header':
      case 'returned header':
        if (this.#isBlank(start, next)) this.#endHeader(start);
        else this.#header_bytes += next - start;
        return true;
      case 'text':
        this.#text_bytes += next - start;
        return this.#text_bytes <= MAX_REPORT_TEXT_BYTES;
      case 'encoded':
        this.#encoded_bytes += next - start;
        return this.#encoded_bytes <= MAX_ENCODED_BYTES;
      default:
        return this.#state === 'fields';
    }
  }

  /** What is left out ends where a part of the message itself begins or ends. */
  #isDelimiter(start: number, next: number): boolean {
    if (this.bytes[start] !== HYPHEN || this.bytes[start + 1] !== HYPHEN) return false;
    const line = this.bytes.toString('latin1', start, next).trimEnd();
    const is_known = this.#delimiters.has(line) || this.#delimiters.has(line.replace(/--$/, ''));
    if (this.#state === 'other' && !is_known) return false;
    this.#delimiters.add(line);
    return true;
  }

  #isBlank(start: number, next: number): boolean {
    let end = next;
    while (end > start && (this.bytes[end - 1] === LF || this.bytes[end - 1] === CR)) end -= 1;
    return end === start;
  }

  #endHeader(end: number): void {
    const is_returned = this.#state === 'returned header';
    this.#state = is_returned
      ? 'other'
      : contentBelow(this.bytes.toString('latin1', this.#header_start, end));
    if (this.#state === 'returned header') this.#header_bytes = 0;
  }
}

type Content = 'fields' | 'text' | 'encoded' | 'other';

const TYPE_LINE = /^(?:[^a-z \t\r\n][^a-z\r\n]*)?content-type/gim;

const IS_BASE64 = /^content-transfer-encoding[ \t]*:[ \t]*base64[ \t]*\r?$/im;

/** What a header says of its part. A type that parsers may read in different ways counts as left out. */
function contentBelow(header: string): 'returned header' | Content {
  const lines = [...header.trimStart().matchAll(TYPE_LINE).take(2)];
  if (lines.length === 0) return 'text';
  const type = /^content-type:[ \t]*(?:\r?\n[ \t]+)?([\w/.+-]+)[ \t]*(?:;|$)/im
    .exec(header)?.[1]
    ?.toLowerCase();
  if (lines.length > 1 || type === undefined) return 'other';
  if (RETURNED_TYPES.includes(type)) return IS_BASE64.test(header) ? 'encoded' : 'returned header';
  if (type === 'text/plain') return 'text';
  return type.startsWith('multipart/') || FIELDS_TYPES.includes(type) ? 'fields' : 'other';
}
