/** A section of header fields, of a message or of a part: what it must be, and what is read from it. */

import { parseAddress } from '../platform/mail/address.ts';

/** Decision: header fields of one section, that of the message or of a part. */
const SMTP_HEADER_FIELDS = 1_000;

/** A field as it came, line breaks and all. */
export interface Field {
  /** In lower case. */
  name: string;
  bytes: Buffer;
}

/** What is wrong with a message for good, as the end of a sentence. */
export class BrokenMessage extends Error {}

/** Fields that RFC 5322 (3.6) and MIME (RFC 2045, 2183) have at most once in a section. */
const ONCE = new Set(
  `date from sender reply-to to cc bcc message-id in-reply-to references subject mime-version content-type
  content-transfer-encoding content-id content-description content-disposition`.split(/\s+/),
);
const FIELD_NAME = /^[!-9;-~]+(?=:)/;

/** The fields of a section, in order. Throws BrokenMessage. */
export function readFields(section: Buffer): Field[] {
  const fields: Field[] = [];
  const names = new Set<string>();
  for (let from = 0; from < section.length; ) {
    const to = endOfField(section, from);
    const bytes = section.subarray(from, to);
    // RFC 5322 has no bound for a name, and no line is longer than 998.
    const name = FIELD_NAME.exec(bytes.toString('latin1', 0, 1_000))?.[0].toLowerCase();
    if (name === undefined) throw new BrokenMessage(`header field ${fields.length + 1} is none`);
    if (names.has(name) && ONCE.has(name)) throw new BrokenMessage(`it has two ${name} fields`);
    names.add(name);
    fields.push({ name, bytes });
    if (fields.length > SMTP_HEADER_FIELDS)
      throw new BrokenMessage(`a header section has more than ${SMTP_HEADER_FIELDS} fields`);
    from = to;
  }
  return fields;
}

/** Behind its last line: those that begin with white space go on with it. */
function endOfField(section: Buffer, from: number): number {
  for (let at = from; ; ) {
    const found = section.indexOf('\r\n', at, 'latin1');
    if (found < 0) return section.length;
    at = found + 2;
    if (section[at] !== 0x20 && section[at] !== 0x09) return at;
  }
}

/** The value of a field, unfolded; null where there is none of the name. */
export function fieldValue(fields: readonly Field[], name: string): string | null {
  const field = fields.find((one) => one.name === name);
  if (!field) return null;
  const text = field.bytes.toString('utf8');
  return text
    .slice(name.length + 1)
    .replace(/\r\n/g, '')
    .trim();
}

/**
 * The one address that a field holds, and its name, which may have encoded words; null where it holds none, several, a group,
 * what is no address, or an `@` outside quotation marks but that address's own: readers would take it for another.
 */
export function soleAddress(value: string): { address: string; name: string } | null {
  let phrase = '';
  /** What stands outside of quotation marks and angles. */
  let bare = '';
  let angle: string | null = null;
  let is_quoted = false;
  for (let at = 0; at < value.length; at += 1) {
    const char = value.charAt(at);
    if (char === '"' || char === '(') {
      const end = endOfQuoted(value, at);
      if (end === null) return null;
      if (char === '"') {
        phrase += value.slice(at + 1, end).replace(/\\(.)/g, '$1');
        is_quoted = true;
      } else if (value.slice(at, end).includes('@')) return null;
      at = end;
    } else if (char === '<') {
      const end = value.indexOf('>', at);
      if (angle !== null || end < 0) return null;
      angle = value.slice(at + 1, end);
      at = end;
    } else if (',;:>'.includes(char) || (angle !== null && char.trim() !== '')) {
      return null;
    } else {
      phrase += char;
      bare += char;
    }
  }
  if (angle === null && is_quoted) return null;
  const address = parseAddress((angle ?? phrase).trim())?.address;
  if (address === undefined || (bare.includes('@') && bare.trim().toLowerCase() !== address.toLowerCase()))
    return null;
  return { address, name: angle === null ? '' : phrase.trim() };
}

/** Where the quoted string or the comment ends that begins at a place; comments may stand in one another. */
function endOfQuoted(value: string, from: number): number | null {
  const is_comment = value[from] === '(';
  let depth = 1;
  for (let at = from + 1; at < value.length; at += 1) {
    const char = value[at];
    if (char === '\\') at += 1;
    else if (is_comment && char === '(') depth += 1;
    else if (char === (is_comment ? ')' : '"')) depth -= 1;
    if (depth === 0) return at;
  }
  return null;
}

const MULTIPART = /^multipart\//i;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i;

/** What stands between the parts of a multipart; null for a section whose body is one part. */
export function boundaryOf(fields: readonly Field[]): string | null {
  const type = fieldValue(fields, 'content-type');
  if (type === null || !MULTIPART.test(type)) return null;
  const [, quoted, bare] = BOUNDARY.exec(type) ?? [];
  return (quoted?.replace(/\\(.)/g, '$1') ?? bare ?? '').trimEnd() || null;
}
